-- Nexmark's queries that group or window one stream, or a stream with a table, in Flink's form, over
-- bids(auction, bidder, price, channel, url, bid_time), auctions(id, item, seller, category, reserve,
-- opens, expires) and persons(id, name, city, state, joined).

-- name: nexmark_q4_category_price
-- form: join source
-- seen: Nexmark, nexmark-flink, q4: Average Price for a Category
INSERT INTO category_price
SELECT closed.category, AVG(closed.best)
FROM (
  SELECT a.category, MAX(b.price) AS best
  FROM auctions AS a, bids AS b
  WHERE b.auction = a.id AND b.bid_time BETWEEN a.opens AND a.expires
  GROUP BY a.id, a.category
) AS closed
GROUP BY closed.category;

-- name: nexmark_q5_hot_items
-- form: join of aggregates
-- seen: Nexmark, nexmark-flink, q5: Hot Items
INSERT INTO hot_items
SELECT per_item.auction, per_item.n
FROM (
  SELECT auction, COUNT(*) AS n, window_start AS since, window_end AS until
  FROM TABLE(HOP(TABLE bids, DESCRIPTOR(bid_time), INTERVAL '3' SECOND, INTERVAL '12' SECOND))
  GROUP BY auction, window_start, window_end
) AS per_item
JOIN (
  SELECT MAX(counted.n) AS most, counted.since, counted.until
  FROM (
    SELECT COUNT(*) AS n, window_start AS since, window_end AS until
    FROM TABLE(HOP(TABLE bids, DESCRIPTOR(bid_time), INTERVAL '3' SECOND, INTERVAL '12' SECOND))
    GROUP BY auction, window_start, window_end
  ) AS counted
  GROUP BY counted.since, counted.until
) AS top
ON per_item.since = top.since AND per_item.until = top.until AND per_item.n >= top.most;

-- name: nexmark_q5_max_of_counts
-- form: cascade
-- seen: Nexmark, nexmark-flink, q5: Hot Items, its inner query
SELECT MAX(counted.n) AS most, counted.since, counted.until
FROM (
  SELECT auction, COUNT(*) AS n, window_start AS since, window_end AS until
  FROM TABLE(HOP(TABLE bids, DESCRIPTOR(bid_time), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
  GROUP BY auction, window_start, window_end
) AS counted
GROUP BY counted.since, counted.until;

-- name: nexmark_q5_old_form
-- form: group window function
-- seen: Nexmark, nexmark-flink, q5: Hot Items, in the older group windows
SELECT auction, COUNT(*) AS n, HOP_START(bid_time, INTERVAL '3' SECOND, INTERVAL '12' SECOND) AS since,
       HOP_END(bid_time, INTERVAL '3' SECOND, INTERVAL '12' SECOND) AS until
FROM bids
GROUP BY auction, HOP(bid_time, INTERVAL '3' SECOND, INTERVAL '12' SECOND);

-- name: nexmark_q6_seller_price
-- form: over rows
-- seen: Nexmark, nexmark-flink, q6: Average Selling Price by Seller
INSERT INTO seller_price
SELECT won.seller,
       AVG(won.price) OVER (PARTITION BY won.seller ORDER BY won.bid_time ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)
FROM (
  SELECT seller, price, bid_time,
         ROW_NUMBER() OVER (PARTITION BY id, seller ORDER BY price DESC) AS place
  FROM (
    SELECT a.id, a.seller, b.price, b.bid_time
    FROM auctions AS a, bids AS b
    WHERE a.id = b.auction AND b.bid_time BETWEEN a.opens AND a.expires
  )
) AS won
WHERE won.place <= 1;

-- name: nexmark_q7_highest_bid
-- form: join of aggregates
-- seen: Nexmark, nexmark-flink, q7: Highest Bid
INSERT INTO highest_bids
SELECT b.auction, b.bidder, b.price, b.bid_time
FROM bids AS b
JOIN (
  SELECT MAX(price) AS top_price, window_end AS until
  FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(bid_time), INTERVAL '20' SECOND))
  GROUP BY window_start, window_end
) AS m
ON b.price = m.top_price
WHERE b.bid_time BETWEEN m.until - INTERVAL '20' SECOND AND m.until;

-- name: nexmark_q7_window_maximum
-- form: tumbling window
-- seen: Nexmark, nexmark-flink, q7: Highest Bid, its inner query
SELECT MAX(price) AS top_price, window_end AS until
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(bid_time), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- name: nexmark_q8_new_sellers
-- form: window join
-- seen: Nexmark, nexmark-flink, q8: Monitor New Users
INSERT INTO new_sellers
SELECT p.id, p.name, p.since
FROM (
  SELECT id, name, window_start AS since, window_end AS until
  FROM TABLE(TUMBLE(TABLE persons, DESCRIPTOR(joined), INTERVAL '15' SECOND))
  GROUP BY id, name, window_start, window_end
) AS p
JOIN (
  SELECT seller, window_start AS since, window_end AS until
  FROM TABLE(TUMBLE(TABLE auctions, DESCRIPTOR(opens), INTERVAL '15' SECOND))
  GROUP BY seller, window_start, window_end
) AS a
ON p.id = a.seller AND p.since = a.since AND p.until = a.until;

-- name: nexmark_q9_winning_bids
-- form: top-n
-- seen: Nexmark, nexmark-flink, q9: Winning Bids
INSERT INTO winning_bids
SELECT id, item, seller, category, reserve, auction, bidder, price, bid_time
FROM (
  SELECT a.*, b.auction, b.bidder, b.price, b.bid_time,
         ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.bid_time ASC) AS place
  FROM auctions AS a, bids AS b
  WHERE a.id = b.auction AND b.bid_time BETWEEN a.opens AND a.expires
)
WHERE place <= 1;

-- name: nexmark_q11_bidder_sessions_old_form
-- form: group window function
-- seen: Nexmark, nexmark-flink, q11: User Sessions
INSERT INTO bidder_sessions
SELECT b.bidder, COUNT(*) AS n,
       SESSION_START(b.bid_time, INTERVAL '8' SECOND) AS since, SESSION_END(b.bid_time, INTERVAL '8' SECOND) AS until
FROM bids AS b
GROUP BY b.bidder, SESSION(b.bid_time, INTERVAL '8' SECOND);

-- name: nexmark_q11_bidder_sessions
-- form: session window
-- seen: Nexmark, nexmark-flink, q11: User Sessions
INSERT INTO bidder_sessions
SELECT bidder, COUNT(*) AS n, window_start AS since, window_end AS until
FROM TABLE(SESSION(TABLE bids PARTITION BY bidder, DESCRIPTOR(bid_time), INTERVAL '8' SECOND))
GROUP BY bidder, window_start, window_end;

-- name: nexmark_q12_processing_time
-- form: tumbling window
-- seen: Nexmark, nexmark-flink, q12: Processing Time Windows
INSERT INTO bids_per_bidder
SELECT bidder, COUNT(*) AS n, window_start AS since, window_end AS until
FROM TABLE(TUMBLE(TABLE stamped_bids, DESCRIPTOR(arrived), INTERVAL '12' SECOND))
GROUP BY bidder, window_start, window_end;

-- name: nexmark_q12_view
-- form: wrapper
-- seen: Nexmark, nexmark-flink, q12: Processing Time Windows
CREATE VIEW stamped_bids AS SELECT *, PROCTIME() AS arrived FROM bids;

-- name: nexmark_q13_side_input
-- form: lookup join
-- seen: Nexmark, nexmark-flink, q13: Bounded Side Input Join
INSERT INTO named_bids
SELECT b.auction, b.bidder, b.price, b.bid_time, p.name
FROM (SELECT *, PROCTIME() AS arrived FROM bids) AS b
JOIN persons FOR SYSTEM_TIME AS OF b.arrived AS p
ON MOD(b.bidder, 500) = p.id;

-- name: nexmark_q15_day_report
-- form: calendar truncation
-- seen: Nexmark, nexmark-flink, q15: Bidding Statistics Report
INSERT INTO day_report
SELECT DATE_FORMAT(bid_time, 'yyyy-MM-dd') AS `day`,
       COUNT(*) AS bids,
       COUNT(*) FILTER (WHERE price < 5000) AS small_bids,
       COUNT(*) FILTER (WHERE price >= 5000 AND price < 200000) AS middle_bids,
       COUNT(*) FILTER (WHERE price >= 200000) AS large_bids,
       COUNT(DISTINCT bidder) AS bidders,
       COUNT(DISTINCT bidder) FILTER (WHERE price < 5000) AS small_bidders,
       COUNT(DISTINCT bidder) FILTER (WHERE price >= 5000 AND price < 200000) AS middle_bidders,
       COUNT(DISTINCT bidder) FILTER (WHERE price >= 200000) AS large_bidders,
       COUNT(DISTINCT auction) AS auctions,
       COUNT(DISTINCT auction) FILTER (WHERE price >= 200000) AS large_auctions
FROM bids
GROUP BY DATE_FORMAT(bid_time, 'yyyy-MM-dd');

-- name: nexmark_q16_channel_report
-- form: calendar truncation
-- seen: Nexmark, nexmark-flink, q16: Channel Statistics Report
INSERT INTO channel_report
SELECT channel,
       DATE_FORMAT(bid_time, 'yyyy-MM-dd') AS `day`,
       MAX(DATE_FORMAT(bid_time, 'HH:mm')) AS last_minute,
       COUNT(*) AS bids,
       COUNT(*) FILTER (WHERE price < 5000) AS small_bids,
       COUNT(*) FILTER (WHERE price >= 5000 AND price < 200000) AS middle_bids,
       COUNT(DISTINCT bidder) AS bidders,
       COUNT(DISTINCT bidder) FILTER (WHERE price >= 200000) AS large_bidders,
       COUNT(DISTINCT auction) AS auctions,
       COUNT(DISTINCT auction) FILTER (WHERE price < 5000) AS small_auctions
FROM bids
GROUP BY channel, DATE_FORMAT(bid_time, 'yyyy-MM-dd');

-- name: nexmark_q17_auction_report
-- form: calendar truncation
-- seen: Nexmark, nexmark-flink, q17: Auction Statistics Report
INSERT INTO auction_report
SELECT auction,
       DATE_FORMAT(bid_time, 'yyyy-MM-dd') AS `day`,
       COUNT(*) AS bids,
       COUNT(*) FILTER (WHERE price < 5000) AS small_bids,
       COUNT(*) FILTER (WHERE price >= 200000) AS large_bids,
       MIN(price) AS low, MAX(price) AS high, AVG(price) AS mean_price, SUM(price) AS total
FROM bids
GROUP BY auction, DATE_FORMAT(bid_time, 'yyyy-MM-dd');

-- name: nexmark_q18_last_bid
-- form: deduplication
-- seen: Nexmark, nexmark-flink, q18: Find last bid
INSERT INTO last_bids
SELECT auction, bidder, price, channel, url, bid_time
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY bid_time DESC) AS place FROM bids)
WHERE place <= 1;

-- name: nexmark_q19_top_prices
-- form: top-n
-- seen: Nexmark, nexmark-flink, q19: Auction TOP-10 Price
INSERT INTO top_prices
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place FROM bids)
WHERE place <= 5;

-- name: nexmark_q20_category_bids
-- form: join source
-- seen: Nexmark, nexmark-flink, q20: Expand bid with auction, counted
SELECT a.category, COUNT(*) AS n, MAX(b.price) AS high
FROM bids AS b INNER JOIN auctions AS a ON b.auction = a.id
WHERE a.category = 7
GROUP BY a.category;

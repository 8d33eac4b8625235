"""Spark's scalar functions that an untrusted expression may call, and why each is safe.

An allow-list, because any other function may be user-defined, and so run code, or be new in a later
Spark. Every function of Spark 4.3 was reviewed for files, network, code, environment, clocks,
randomness and the size of its values:

- a `Family` has functions that are safe for the same reason, and a bound on their values' size;
- `REACHING` has functions that access more than the row, each with its reason;
- `weft.query.functions` has those that no query may call, trusted or not (random values, clocks,
  code).

A test lists the functions of the installed Spark, and fails for one that is in no list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Growth = Literal["fixed", "sum", "double", "fourfold", "eightfold", "own"]
"""The bound on a value's size: 64 bytes; the sum of all arguments; two, four or eight times that;
or a special rule in `weft.query.trust.value_size`."""


@dataclass(frozen=True)
class Family:
    """Functions that are safe for the same reason."""

    reason: str
    growth: Growth
    names: frozenset[str]


def _family(growth: Growth, reason: str, names: str) -> Family:
    return Family(reason, growth, frozenset(names.split()))


FAMILIES: tuple[Family, ...] = (
    _family(
        "fixed",
        "arithmetic: a number of numbers",
        """
        abs acos acosh asin asinh atan atan2 atanh bin bit_count bit_get bround cbrt ceil ceiling
        conv cos cosh cot csc degrees e exp expm1 factorial floor getbit hypot ln log log10 log1p
        log2 mod nanvl negative pi pmod positive pow power radians rint round sec shiftleft
        shiftright shiftrightunsigned sign signum sin sinh sqrt tan tanh try_add try_divide try_mod
        try_multiply try_subtract width_bucket zeroifnull nullifzero
        """,
    ),
    _family(
        "fixed",
        "a test of values: a boolean",
        """
        array_contains arrays_overlap contains endswith equal_null is_valid_utf8 is_valid_variant
        is_variant_null isnan isnotnull isnull luhn_check map_contains_key startswith
        """,
    ),
    _family(
        "fixed",
        "a measure of a value: one number",
        """
        array_position array_size ascii bit_length bitmap_bit_position bitmap_bucket_number
        bitmap_count cardinality char_length character_length collation find_in_set instr
        json_array_length len length locate octet_length position size typeof unix_date unix_micros
        unix_millis unix_nanos unix_seconds vector_cosine_similarity vector_inner_product
        vector_l2_distance vector_norm st_srid
        """,
    ),
    _family(
        "fixed",
        "a digest: as many bytes whatever is put in",
        "crc32 hash hmac md5 sha sha1 sha2 soundex xxhash64",
    ),
    _family(
        "fixed",
        "a date, time or interval, from the arguments alone",
        """
        add_months convert_timezone date_add date_diff date_from_unix_date date_part date_sub
        date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear extract
        from_utc_timestamp hour last_day make_date make_dt_interval make_interval make_time
        make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month monthname
        months_between next_day quarter second time_bucket time_diff time_from_micros
        time_from_millis time_from_seconds time_to_micros time_to_millis time_to_seconds time_trunc
        timestamp_micros timestamp_millis timestamp_nanos timestamp_seconds to_time
        to_unix_timestamp to_utc_timestamp trunc try_make_interval try_make_timestamp
        try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time unix_timestamp
        weekday weekofyear year
        """,
    ),
    _family(
        "fixed",
        "a date or time of a text; texts that mean the clock ('now') are refused apart",
        "date time timestamp to_date to_timestamp to_timestamp_ltz to_timestamp_ntz "
        "try_to_timestamp",
    ),
    _family(
        "sum",
        "a cast by name: no larger than its text",
        "bigint binary boolean decimal double float int smallint string tinyint",
    ),
    _family("fixed", "a number of a text", "to_number try_to_number"),
    _family(
        "sum",
        "one of its arguments",
        "coalesce element_at elt get greatest if ifnull least nullif nvl nvl2 try_element_at",
    ),
    _family(
        "sum",
        "a part of a text, or the same text in other letters",
        """
        btrim char chr initcap lcase left lower ltrim overlay regexp_extract regexp_substr reverse
        right rtrim split_part substr substring substring_index translate trim ucase upper
        validate_utf8 try_validate_utf8 collate parse_url try_parse_url url_decode try_url_decode
        from_base32 unbase64 unhex to_binary try_to_binary aes_decrypt try_aes_decrypt
        """,
    ),
    _family("sum", "texts or binaries end to end", "concat"),
    _family(
        "double",
        "a text in a code that takes more room: twice as large at most",
        "base64 hex to_base32 quote to_char to_varchar mask",
    ),
    _family(
        "fourfold",
        "a text in another character set or escape: four times as large at most",
        "decode encode make_valid_utf8 sentences url_encode",
    ),
    _family(
        "sum",
        "an array, map or struct of what is given",
        """
        array array_append array_compact array_distinct array_except array_intersect array_max
        array_min array_prepend array_remove array_union arrays_zip flatten map map_concat
        map_entries map_from_arrays map_from_entries map_keys map_values named_struct
        regexp_extract_all slice sort_array split struct vector_normalize
        """,
    ),
    _family(
        "fixed",
        "a search in a text, whose pattern is bounded apart",
        "ilike like regexp regexp_count regexp_instr regexp_like rlike",
    ),
    _family(
        "sum",
        "what a text of JSON, CSV or a variant holds; options by a list",
        """
        from_csv from_json get_json_object json_object_keys parse_json schema_of_csv schema_of_json
        schema_of_variant str_to_map to_variant_object try_parse_json try_variant_array_append
        try_variant_get try_variant_insert try_variant_set variant_array_append variant_delete
        variant_get variant_insert variant_set variant_strip_nulls
        """,
    ),
    _family(
        "eightfold",
        "a value as text, with the names of its fields and escapes; options by a list",
        "to_csv to_json to_xml",
    ),
    _family("sum", "a value as Avro, by a schema that is given as text", "to_avro"),
    _family(
        "sum",
        "sketches: a number, or a sketch no larger than those given",
        """
        approx_top_k_estimate hll_sketch_estimate hll_union kll_sketch_get_n_bigint
        kll_sketch_get_n_double kll_sketch_get_n_float kll_sketch_get_quantile_bigint
        kll_sketch_get_quantile_double kll_sketch_get_quantile_float kll_sketch_get_rank_bigint
        kll_sketch_get_rank_double kll_sketch_get_rank_float kll_sketch_merge_bigint
        kll_sketch_merge_double kll_sketch_merge_float theta_difference theta_intersection
        theta_sketch_estimate theta_union tuple_difference_double tuple_difference_integer
        tuple_difference_theta_double tuple_difference_theta_integer tuple_intersection_double
        tuple_intersection_integer tuple_intersection_theta_double tuple_intersection_theta_integer
        tuple_sketch_estimate_double tuple_sketch_estimate_integer tuple_sketch_summary_double
        tuple_sketch_summary_integer tuple_sketch_theta_double tuple_sketch_theta_integer
        tuple_union_double tuple_union_integer tuple_union_theta_double tuple_union_theta_integer
        """,
    ),
    _family(
        "fourfold",
        "a sketch as text",
        "kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float",
    ),
    _family(
        "sum",
        "geometries: the same bytes with or without their type",
        "st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid",
    ),
    _family(
        "own",
        "as large as a number in the call says, which has to be a constant",
        """
        array_insert array_repeat date_format format_number format_string from_unixtime lpad printf
        repeat rpad sequence space
        """,
    ),
    _family(
        "own",
        "as large as two arguments multiplied",
        "array_join concat_ws levenshtein jaro_winkler_similarity regexp_replace replace",
    ),
    _family(
        "own",
        "a lambda for every element: as often as there are elements",
        """
        aggregate array_sort exists filter forall map_filter map_zip_with reduce transform
        transform_keys transform_values zip_with
        """,
    ),
)

GROWTH: dict[str, Growth] = {name: family.growth for family in FAMILIES for name in family.names}
"""The bound on the value's size of every allowed function."""

SCALAR_FUNCTIONS = frozenset(GROWTH)

_XML = "reads XML, whose declarations and validation can name files and addresses"
_AVRO = "takes a schema from an address that its options name"

REACHING: dict[str, str] = {
    **dict.fromkeys(
        (
            *("from_xml", "schema_of_xml", "xpath", "xpath_boolean", "xpath_double"),
            *("xpath_float", "xpath_int", "xpath_long", "xpath_number", "xpath_short"),
            *("xpath_string",),
        ),
        _XML,
    ),
    **dict.fromkeys(("from_avro", "schema_of_avro"), _AVRO),
}
"""Deterministic functions that access files or the network: for trusted queries, or if the operator
allows them by name."""

_TIMES = frozenset(("dateformat", "timestampformat", "timestampntzformat", "timeformat"))
_FORM = _TIMES | {
    "timezone",
    "locale",
    "mode",
    "columnnameofcorruptrecord",
    "enabledatetimeparsingfallback",
}
_JSON = _FORM | {
    *("primitivesasstring", "prefersdecimal", "allowcomments", "allowunquotedfieldnames"),
    *("allowsinglequotes", "allownumericleadingzeros", "allownonnumericnumbers"),
    *("allowbackslashescapinganycharacter", "allowunquotedcontrolchars", "multiline"),
    *(
        "dropfieldifallnull",
        "ignorenullfields",
        "prettyprint",
        "pretty",
        "writenullifwithdefaultvalue",
    ),
}
_CSV = _FORM | {
    *("sep", "delimiter", "quote", "escape", "chartoescapequoteescaping", "comment"),
    *("ignoreleadingwhitespace", "ignoretrailingwhitespace", "nullvalue", "emptyvalue"),
    *("nanvalue", "positiveinf", "negativeinf", "quoteall", "escapequotes", "preferdate"),
    *("unescapedquotehandling", "enforceschema", "header"),
}
_XML_OUT = _TIMES | {
    "rowtag",
    "roottag",
    "attributeprefix",
    "valuetag",
    "nullvalue",
    "arrayelementname",
}

OPTIONS: dict[str, tuple[int, frozenset[str]]] = {
    "from_json": (2, _JSON),
    "to_json": (1, _JSON),
    "schema_of_json": (1, _JSON),
    "from_csv": (2, _CSV),
    "to_csv": (1, _CSV),
    "schema_of_csv": (1, _CSV),
    "to_xml": (1, _XML_OUT),
}
"""Functions with an options argument: its position, and the accepted options in lower case."""

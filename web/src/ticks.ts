// Ticks where people would put them: whole seconds, minutes, hours and days, with a date at midnight.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Steps between ticks, in seconds. */
export const STEPS = [
  1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY,
];

/** Times in UTC, in seconds since 1970, as short as the step between them allows. */
export function ticked(times: number[]): string[] {
  const step = times.length > 1 ? times[1] - times[0] : 1;
  return times.map((time, at) => {
    const at_time = new Date(time * 1000);
    if (Number.isNaN(at_time.getTime())) return "";
    const text = at_time.toISOString();
    const day = text.slice(0, 10);
    if (step >= DAY) return day;
    const clock = text.slice(11, step % MINUTE === 0 ? 16 : 19);
    const new_day = at > 0 && new Date(times[at - 1] * 1000).toISOString().slice(0, 10) !== day;
    return new_day ? day.slice(5) : clock;
  });
}

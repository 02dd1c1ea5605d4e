/**
 * Time inside Sluice is an integer count of nanoseconds, carried in a double. Integers stay exact up to 2^53 ns
 * (104 days), which bounds one emulator run or one session; wall-clock instants are integer Unix milliseconds.
 */
export const NS_PER_US = 1_000
export const NS_PER_MS = 1_000_000
export const NS_PER_S = 1_000_000_000

export const KIB = 1024

/** Nanoseconds of a duration in seconds, rounded to the nearest integer. */
export const sToNs = (s: number): number => Math.round(s * NS_PER_S)

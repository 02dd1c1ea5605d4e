/** Code-unit order of two strings: the same on every machine and locale. */
export const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

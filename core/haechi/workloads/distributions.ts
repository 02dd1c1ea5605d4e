/** Distributions of a total of I/Os per period over clients: the paper's uniform, zipf and spike (spec/haechi 13; Set 1C, 2). */

/** `clients` equal parts. */
export const uniformShares = (total: number, clients: number): number[] =>
  Array.from({ length: clients }, () => Math.floor(total / clients))

/**
 * Groups weighted 1 / rank^s, the clients of a group alike.
 *
 * @param groups     number of groups; 5 in the paper.
 * @param groupSize  clients per group; 2 in the paper.
 * @param s          exponent; 0.6 in the paper.
 * @returns          I/Os per period of each client, largest first, rounded down.
 */
export function zipfShares(total: number, groups: number, groupSize: number, s: number): number[] {
  const weights = Array.from({ length: groups }, (_, k) => (k + 1) ** -s)
  const sum = weights.reduce((a, b) => a + b, 0)
  return weights.flatMap((w) => Array.from({ length: groupSize }, () => Math.floor((total * w) / sum / groupSize)))
}

/** `high` for the first `spiked` clients, `low` for the rest. */
export const spikeShares = (clients: number, spiked: number, high: number, low: number): number[] =>
  Array.from({ length: clients }, (_, i) => (i < spiked ? high : low))

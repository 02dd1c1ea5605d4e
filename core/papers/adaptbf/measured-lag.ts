/**
 * Control lag measured on a server with real sshd, sudo and systemd by tests/servers/measure-lag.ts, which writes this file. The lctl
 * there is a stand-in, and console and server share one machine: a network adds a round trip to the reading, to each command and to
 * the read-back.
 */
import type { LagSetup } from './control.ts'

export const MEASURED_LAG = {
  date: '2026-11-23',
  command: 'node tests/servers/measure-lag.ts 300',
  machine: '2 cores of AMD EPYC, Linux 6.18.44-fc-v509, Debian bookworm in systemd-nspawn',
  /** Cycles with commands, and their commands. */
  cycles: 300,
  commands: 1138,
  /** Quantiles of 0, 5, ... 100 %, ms. */
  lag: {
    /** From the middle of a reading by sluice-read to the decision, and the decision. */
    ageMs: [
      0.84, 0.91, 0.93, 0.94, 0.95, 0.96, 0.98, 0.99, 1.02, 1.03, 1.05, 1.07, 1.1, 1.13, 1.16, 1.26, 1.39, 1.64, 1.99,
      2.39, 6.26,
    ],
    /** One rule command through sudo and sluice-rule, from sending to its answer. */
    commandMs: [
      8.14, 8.6, 8.84, 9, 9.14, 9.33, 9.51, 9.72, 10.01, 10.41, 10.83, 11.43, 12.22, 12.97, 13.87, 14.61, 15.66, 16.78,
      18.32, 20.82, 41.24,
    ],
    /** Read-back of the rules by lctl through sudo. */
    readBackMs: [
      5.33, 5.92, 6.04, 6.12, 6.28, 6.45, 6.57, 6.77, 6.93, 7.09, 7.32, 7.47, 7.75, 8.11, 8.38, 9.34, 10.3, 11.31,
      12.61, 14.78, 22.11,
    ],
  } satisfies LagSetup,
  /** From the reading to the end of the read-back. */
  totalMs: [
    25.47, 41.31, 42.68, 43.25, 44.05, 44.56, 45.09, 46.01, 47.75, 49.28, 53.7, 55.57, 59.1, 62.87, 64.48, 68.61, 71.76,
    74.74, 79.22, 83.3, 103.65,
  ],
} as const

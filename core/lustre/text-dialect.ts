/** What the releases differ in about counters and tables as they are printed. */
import type { Release } from './release.ts'

export interface TextDialect {
  /** Width of the name column of `stats` tables, characters. */
  readonly statsNameWidth: number
}

export const TEXT_DIALECTS: Readonly<Record<Release, TextDialect>> = {
  '2.12': { statsNameWidth: 25 },
  '2.15': { statsNameWidth: 25 },
  '2.16': { statsNameWidth: 25 },
  '2.17': { statsNameWidth: 25 },
  dev: { statsNameWidth: 35 },
}

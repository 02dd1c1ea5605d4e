/** What a fork of an emulated source takes over from its scenario: planes that are not observed through Lustre's counters. */
import type { JobScenario, Scenario } from '../emulator/scenario.ts'

export interface CarriedSections {
  readonly texts: Readonly<Record<string, unknown>>
  /** In words. */
  readonly said: readonly string[]
  /** Clients that the sections need. */
  readonly clients: number
  /** Jobs that run behind stages, by id. */
  readonly staged: ReadonlyMap<string, JobScenario>
}

/** Faults are left out: they are at instants of a past that the fork does not have. */
export function carriedSections(scenario: Scenario | undefined): CarriedSections {
  const { padll, ccpfs, haechi = [] } = scenario ?? {}
  const staged = new Map((padll ? (scenario?.jobs ?? []) : []).filter((j) => j.stages).map((j) => [j.id, j]))
  return {
    texts: {
      ...(padll ? { padll: { ...padll, faults: [] } } : {}),
      ...(ccpfs ? { ccpfs: { ...ccpfs, faults: [] } } : {}),
      ...(haechi.length > 0 ? { haechi: haechi.map((n) => ({ ...n, capacity: [], changes: [] })) } : {}),
    },
    said: [
      ...(padll ? ['stages of PADLL'] : []),
      ...(ccpfs ? ['ccPFS and its locks'] : []),
      ...(haechi.length > 0 ? ['data nodes'] : []),
    ],
    clients: padll || ccpfs ? (scenario?.clients.count ?? 0) : 0,
    staged,
  }
}

/**
 * Version gates: writes that crash a release or that it mishandles, which are refused or announced.
 *
 * Source: LU-14976 and LU-16144 are fixed in 2.16, measured B8 and B9; for the others the first fixed release follows from the tickets'
 * dates; possible backports are not assumed. With an unknown version all writes are refused.
 */
import type { LustreVersion } from '../lustre/version.ts'
import type { PlanCommand } from './plan.ts'
import { listed } from './sentence.ts'
import type { ServerRules } from './server-rules.ts'

/** A pending write. */
export interface GatedWrite {
  /** Commands as they would be sent: a plan moves rules that no edit names. */
  readonly commands: readonly PlanCommand[]
  /** Names of rules known to be realtime. */
  readonly realtime: ReadonlySet<string>
}

export interface VersionGate {
  readonly id: `LU-${number}`
  /** First release without the fault, as major * 10^6 + minor * 10^3 + patch. */
  readonly fixedAt: number
  /** refuse: not sent. say: sent with a warning. */
  readonly action: 'refuse' | 'say'
  /** Rules concerned; empty if the write does not trigger the fault. */
  readonly concerns: (write: GatedWrite) => readonly string[]
  readonly why: string
}

const V2_15 = 2_015_000
/** 2.15.50 begins the line to 2.16. */
const V2_16 = 2_015_050
const namesOf = (commands: readonly PlanCommand[]): string[] => [...new Set(commands.map((c) => c.rule))]

/** A direct change of the TBF type is handled where it is planned (`planPolicy`): it is split into steps and never sent directly. */
export const VERSION_GATES: readonly VersionGate[] = [
  {
    id: 'LU-14724',
    fixedAt: V2_15,
    action: 'refuse',
    concerns: ({ commands }) => namesOf(commands.filter((c) => c.verb === 'change' && / rank=/.test(c.value))),
    why: 'moving a rule corrupts the list of rules; stop it and start it in its place',
  },
  {
    id: 'LU-15056',
    fixedAt: V2_15,
    action: 'refuse',
    concerns: ({ commands }) => namesOf(commands.filter((c) => c.rule.length > 15)),
    why: 'a name of more than 15 characters is written past the end of its buffer',
  },
  {
    id: 'LU-15926',
    fixedAt: V2_16,
    action: 'refuse',
    concerns: ({ commands, realtime }) => namesOf(commands.filter((c) => c.verb === 'change' && realtime.has(c.rule))),
    why: 'changing a realtime rule crashes the server; stop it and start it with its new rate',
  },
  {
    id: 'LU-16144',
    fixedAt: V2_16,
    action: 'say',
    concerns: ({ commands }) => namesOf(commands.filter((c) => c.verb === 'start')),
    why: 'unmounting a target while a rule holds RPCs crashes the server: stop the rules before maintenance or fail-over',
  },
]

const numberOf = ({ major, minor, patch }: LustreVersion): number => major * 1e6 + minor * 1e3 + patch

/** A gate triggered by a write on a server. */
export interface GateHit {
  readonly id: string
  readonly action: VersionGate['action']
  readonly text: string
}

/** True if a release changes the TBF type without losing queued RPCs (LU-14976). */
export const changesTypeSafely = (version: LustreVersion): boolean => numberOf(version) >= V2_16

/**
 * Returns the gates triggered by rule commands on one server.
 *
 * @param version  undefined: unknown, and everything is refused.
 */
export function gatesOf(
  version: LustreVersion | undefined,
  server: Pick<ServerRules, 'server' | 'realtime'>,
  commands: readonly PlanCommand[],
): GateHit[] {
  if (commands.length === 0) return []
  if (!version) {
    return [
      {
        id: 'VERSION',
        action: 'refuse',
        text: `the release of ${server.server} could not be read, so nothing is written`,
      },
    ]
  }
  const realtime = new Set([...(server.realtime ?? [])].filter(([, is]) => is).map(([name]) => name))
  for (const c of commands) if (c.verb === 'start' && / realtime=1/.test(c.value)) realtime.add(c.rule)
  return VERSION_GATES.flatMap(({ id, fixedAt, action, concerns, why }) => {
    const rules = numberOf(version) < fixedAt ? concerns({ commands, realtime }) : []
    if (rules.length === 0) return []
    return [{ id, action, text: `${id} on ${version.text}, ${listed(rules)}: ${why}` }]
  })
}

/**
 * Writes that a release does not survive, or mishandles: what is refused on it, and what is said before.
 *
 * Source: LU-14976 and LU-16144 are fixed in 2.16, measured B8 and B9; of the others the tickets' dates give the first release
 * that has the fix, and a release that may have it by a backport is taken as one that has not. An unread version takes nothing.
 */
import type { LustreVersion } from '../lustre/version.ts'
import type { PlanCommand } from './plan.ts'
import { listed } from './sentence.ts'
import type { ServerRules } from './server-rules.ts'

/** What is about to be written. */
export interface GatedWrite {
  /** As they would be sent: a plan moves rules that no edit names. */
  readonly commands: readonly PlanCommand[]
  /** Names of rules that are known to be realtime. */
  readonly realtime: ReadonlySet<string>
}

export interface VersionGate {
  readonly id: `LU-${number}`
  /** First release without the fault, as major * 10^6 + minor * 10^3 + patch. */
  readonly fixedAt: number
  /** refuse: it is not sent. say: the operator must know. */
  readonly action: 'refuse' | 'say'
  /** Rules that it is about; empty when the write does not touch the fault. */
  readonly concerns: (write: GatedWrite) => readonly string[]
  readonly why: string
}

const V2_15 = 2_015_000
/** 2.15.50 begins the line to 2.16. */
const V2_16 = 2_015_050
const namesOf = (commands: readonly PlanCommand[]): string[] => [...new Set(commands.map((c) => c.rule))]

/** A direct change of the TBF type is gated where it is planned (`planPolicy`): it becomes steps, and is never sent direct. */
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
    why: 'a name of more than 15 characters is written beyond its place',
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

/** A gate that a write meets on a server. */
export interface GateHit {
  readonly id: string
  readonly action: VersionGate['action']
  readonly text: string
}

/** Whether a release changes the TBF type without losing what is queued (LU-14976). */
export const changesTypeSafely = (version: LustreVersion): boolean => numberOf(version) >= V2_16

/**
 * The gates that commands of rules meet on one server.
 *
 * @param version  undefined: it could not be read, and everything is refused.
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

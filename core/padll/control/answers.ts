/** What answers of local controllers say of their stages. */
import type { LocalToGlobal } from './messages.ts'
import type { Roster } from './roster.ts'
import type { LocalPeer, StageRecord } from './stage-record.ts'
import type { WaitSums } from './wait-sums.ts'

/** Refused commands that are remembered. */
const REFUSALS_MAX = 100

export interface CountsContext {
  readonly roster: Roster
  readonly waits: WaitSums
  readonly nowNs: number
  readonly intervalNs: number
}

/** Takes counts in; returns the stages that their local controller does not know of, though they joined before it was asked. */
export function takeCounts(
  peer: LocalPeer,
  counts: Extract<LocalToGlobal, { kind: 'counts' }>,
  { roster, waits, nowNs, intervalNs }: CountsContext,
): StageRecord[] {
  const named = new Set<string>()
  for (const { key, channels } of counts.stages) {
    const stage = peer.stages.get(key)
    named.add(key)
    if (!stage) {
      peer.isUnsure = true
      continue
    }
    stage.take(channels, counts.windowNs, nowNs, intervalNs)
    for (const { scope, throttledNs } of channels) {
      waits.add(scope, stage.identity.job, throttledNs, roster.stages.size, (job) => roster.hasJob(job))
    }
  }
  for (const key of counts.silent) {
    named.add(key)
    peer.stages.get(key)?.missed(counts.windowNs)
  }
  return [...peer.stages.values()].filter((s) => !named.has(s.key) && s.joinedAt < counts.request)
}

/** Takes the answer to commands in; `refusals` holds why some were not carried out, by job and scope. */
export function takeAck(
  peer: LocalPeer,
  ack: Extract<LocalToGlobal, { kind: 'ack' }>,
  refusals: Map<string, string>,
): void {
  const orders = peer.commands.get(ack.request)
  if (!orders) return
  peer.commands.delete(ack.request)
  // Most often everything was carried out, as it was before: no names are made then.
  if (ack.failed.length === 0 && refusals.size === 0) {
    for (const { of, rate } of orders) of.answered(ack.request, rate, true)
    return
  }
  const failed = new Map(ack.failed.map((f) => [`${f.key}\n${f.scope}`, f.why] as const))
  for (const { of, rate } of orders) {
    const why = failed.get(`${of.stage.key}\n${of.scope}`)
    of.answered(ack.request, rate, why === undefined)
    const where = `${of.stage.identity.job} ${of.scope}`
    if (why === undefined) refusals.delete(where)
    else if (refusals.size < REFUSALS_MAX && peer.stages.has(of.stage.key)) refusals.set(where, why)
  }
}

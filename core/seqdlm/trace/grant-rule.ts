/**
 * Why a request was granted, in words: the cell of Table II or the state of the queue that decided it, what it merged with, and
 * why it was not granted for longer use. Found out from the lives around it; there is nothing in it but modes and numbers.
 */
import { isCompatible, isWriteMode, join } from '../modes.ts'
import { overlaps, union } from '../ranges.ts'
import type { AbsorbedLock, LifeRecord } from './life.ts'
import type { InTheWay } from './obstacles.ts'
import { listed, showSn } from './words.ts'

/**
 * The rule that decided a grant.
 *
 * @param w       granted.
 * @param behind  what was in its way until then.
 * @param around  lives of its resource, those at least that had not ended when it was asked for.
 */
export function grantRule(w: LifeRecord, behind: readonly InTheWay[], around: readonly LifeRecord[]): string {
  return [merged(w), decided(w, behind, around), earlyRevocation(w, around)].filter((s) => s !== '').join('; ')
}

const nameOf = (l: AbsorbedLock | LifeRecord): string => (isWriteMode(l.mode) ? showSn(l.sn) : 'PR')

function merged({ absorbed, askedMode, mode }: LifeRecord): string {
  const [first] = absorbed
  if (first === undefined) return ''
  const own = `merged with own ${listed(absorbed.map(nameOf))}`
  const held = absorbed.reduce((m, l) => join(l.modeNow, m), first.modeNow)
  return held === askedMode ? `${own}, ${mode} both` : `${own}: ${held} + ${askedMode} gives ${mode} (Fig. 9)`
}

function decided(w: LifeRecord, behind: readonly InTheWay[], around: readonly LifeRecord[]): string {
  const range = w.absorbed.reduce((r, l) => union(r, l.range), w.required)
  const beside = around.filter(
    (l) => l.grantedSeq < w.grantedSeq && l.endedSeq > w.grantedSeq && overlaps(l.range, range),
  )
  const canceling = beside.filter((l) => l.cancelingSeq < w.grantedSeq && modeBefore(l, w.grantedSeq) === 'NBW')
  const foreign = canceling.filter((l) => l.client !== w.client)
  if (w.isEarlyGrant) {
    const over = foreign.length > 0 ? ` over ${listed(foreign.map(nameOf))}` : ''
    return `Table II, ${w.mode} beside canceling NBW: yes (early grant${over})`
  }
  const last = behind.reduce<InTheWay | undefined>((a, b) => (a && a.clearedSeq > b.clearedSeq ? a : b), undefined)
  if (last !== undefined) return cleared(w, last)
  if (w.hasWaited) return 'what stood in its way is gone, and no longer in memory'
  if (w.mode === 'PR' && beside.some((l) => l.mode === 'PR')) return 'Table II, PR beside PR: yes'
  if (canceling.length > 0)
    return `Table II, ${w.mode} beside own canceling NBW: yes (${listed(canceling.map(nameOf))})`
  return 'no unreleased lock overlaps'
}

function cleared(w: LifeRecord, { life, until, mode }: InTheWay): string {
  if (until === 'canceling')
    return `every conflicting lock is canceling or released (${w.mode} beside granted ${mode}: no)`
  if (life.ending === 'withdrawn')
    return `the conflicting request before it is withdrawn (${w.mode} beside ${mode}: no)`
  const how = life.ending === 'evicted' ? 'released or evicted' : 'released'
  return `every conflicting lock is ${how} (${w.mode} beside ${mode}: no)`
}

/** Mode that a lock had at an event. */
const modeBefore = (l: LifeRecord, seq: number): LifeRecord['mode'] =>
  l.downgrades.findLast((d) => d.seq < seq)?.mode ?? l.mode

function earlyRevocation(w: LifeRecord, around: readonly LifeRecord[]): string {
  if (!w.isEarlyRevocation) return ''
  const waiter = around.find(
    (v) =>
      v.client !== w.client &&
      v.hasWaited &&
      v.id < w.grantedSeq &&
      Math.min(v.grantedSeq, v.endedSeq) > w.grantedSeq &&
      !isCompatible(v.askedMode, w.mode, 'GRANTED') &&
      overlaps(v.required, w.range),
  )
  const who = waiter ? `${waiter.askedMode} of client ${waiter.client}` : 'a conflicting request'
  return `granted as canceling: could not expand, ${who} waits (early revocation)`
}

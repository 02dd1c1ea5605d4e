/** Readable form of messages in a schedule. */
import type { Block, Message } from '#core/seqdlm/messages.ts'
import { EOF, type LockRange } from '#core/seqdlm/ranges.ts'

const showEnd = (end: number): string => (end === EOF ? 'EOF' : `${end}`)

const showRange = ({ start, end, pieces }: LockRange): string =>
  pieces === null ? `[${start},${showEnd(end)}]` : pieces.map((p) => `[${p.start},${showEnd(p.end)}]`).join('')

const showBlock = ({ start, end, sn, hole }: Block): string => `${start}..${showEnd(end)}@${sn}${hole ? ' hole' : ''}`

export function showMessage(m: Message): string {
  switch (m.kind) {
    case 'lock-request':
      return `asks ${m.mode} ${showRange(m.range)} of ${m.resource} (request ${m.reqId})`
    case 'lock-grant': {
      const absorbed = m.absorbed.length > 0 ? ` for ${m.absorbed.join(', ')}` : ''
      return `grants ${m.mode} ${showRange(m.range)} of ${m.resource} as lock ${m.lockId}, SN ${m.sn}, ${m.state}${absorbed}`
    }
    case 'lock-refusal':
      return `refuses request ${m.reqId}: ${m.code}`
    case 'revoke':
    case 'revoke-reply':
    case 'release':
      return `${m.kind} lock ${m.lockId} of ${m.resource}`
    case 'downgrade':
      return `downgrade lock ${m.lockId} of ${m.resource} to ${m.mode}`
    case 'flush-request':
      return `flush ${m.rpcSeq} of ${m.resource}: ${m.blocks.map(showBlock).join(', ')}`
    case 'flush-reply':
      return `flush ${m.rpcSeq} of ${m.resource} is done`
    case 'read-request':
    case 'read-reply':
      return `${m.kind} ${m.start}..${m.end}`
    case 'recover-report':
      return `reports ${m.locks.map((l) => `${l.mode} ${l.state} lock ${l.lockId}`).join(', ') || 'no locks'}`
    default:
      return m.kind
  }
}

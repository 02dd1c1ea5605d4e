/** What a message says, in words; made when somebody reads it. */
import { isWriteMode } from '../modes.ts'
import type { LifeRecord } from './life.ts'
import type { MessageRecord } from './message-log.ts'
import { grouped, listed, showRange, showSn } from './words.ts'

/** `asks NBW 0 .. 65 535`, `grants #4 127 NBW 0 .. end, early`. */
export function messageWords(m: MessageRecord, life: LifeRecord | null): string {
  switch (m.kind) {
    case 'lock-request':
      return `asks ${m.mode} ${m.range === null ? '' : showRange(m.range)}`
    case 'lock-grant':
      return grantWords(m, life)
    case 'lock-refusal':
      return 'refuses the request'
    case 'revoke':
      return `revokes ${lockName(m)}`
    case 'revoke-reply':
      return `${lockName(m)} is canceling`
    case 'downgrade':
      return `downgrades ${lockName(m)} to ${m.mode}`
    case 'release':
      return `releases ${lockName(m)}`
    case 'flush-request':
      return flushWords(m)
    case 'flush-reply':
      return 'flush is done'
    case 'read-request':
    case 'read-reply':
      return `${m.kind === 'read-request' ? 'reads' : 'data'} ${m.range === null ? '' : showRange(m.range)}`
    case 'size-request':
      return 'asks for the size'
    case 'size-reply':
      return `size ${grouped(m.named)} bytes`
    default:
      return m.kind
  }
}

function grantWords({ mode, range, named }: MessageRecord, life: LifeRecord | null): string {
  const name = mode !== null && isWriteMode(mode) ? `${showSn(named)} ` : ''
  const marks = `${life?.isEarlyGrant ? ', early' : ''}${life?.isEarlyRevocation ? ', canceling' : ''}`
  return `grants ${name}${mode} ${range === null ? '' : showRange(range)}${marks}`
}

/** `#4 121 NBW`, `PR`; of a lock that was not known when it was named its number. */
function lockName({ lockMode, lockSn, named }: MessageRecord): string {
  if (lockMode === null) return `lock ${grouped(named)}`
  return isWriteMode(lockMode) ? `${showSn(lockSn)} ${lockMode}` : lockMode
}

function flushWords({ flushed }: MessageRecord): string {
  const bytes = flushed.reduce((sum, f) => sum + f.bytes, 0)
  return `flushes ${grouped(bytes)} bytes of ${listed(flushed.map((f) => showSn(f.sn)))}`
}

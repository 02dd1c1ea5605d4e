/**
 * `ost.OSS.ost_io.req_history`: the last requests of a service, printed and parsed.
 *
 * Source: spec/lustre 6.6. Sequence numbers and transfer ids exceed 2^53 and stay texts.
 */
import type { ByteText, SkippedLine } from './text.ts'

export interface HistoricRequest {
  readonly sequence: string
  /** Name of the target, or the server's own NID. */
  readonly target: string
  /** `12345-192.168.1.20@tcp`. */
  readonly client: string
  readonly xid: string
  /** Length of the request message, bytes. */
  readonly bytes: number
  /** `Complete`, `New`, ... */
  readonly phase: string
  /** Arrival as `secs.usecs`. */
  readonly arrival: string
  /** Service time and, in brackets, sent against deadline: texts, seconds, of either sign. */
  readonly took: string
  readonly late: string
  /** RPC number; undefined while the request waits and was not looked at. */
  readonly opcode: number | undefined
}

/** The value of req_history, oldest request first. */
export const formatReqHistory = (requests: readonly HistoricRequest[]): string =>
  requests
    .map((r) => {
      const what = r.opcode === undefined ? '<not swabbed>' : `opc ${r.opcode}`
      const times = `${r.arrival}:${r.took}s(${r.late}s) ${what}`
      return `${r.sequence}:${r.target}:${r.client}:x${r.xid}:${r.bytes}:${r.phase}:${times}\n`
    })
    .join('')

const LINE =
  /^(\d+):([^ ]+?):(\d+-[^ ]+):x(\d+):(\d+):([A-Za-z]+):(\d+\.\d+):(-?[\d.]+)s\(([+-]?[\d.]+)s\) (?:opc (-?\d+)|<not swabbed>)$/

/** Reads the value; unreadable lines are named and skipped. */
export function parseReqHistory(text: ByteText): {
  readonly requests: readonly HistoricRequest[]
  readonly skipped: readonly SkippedLine[]
} {
  const requests: HistoricRequest[] = []
  const skipped: SkippedLine[] = []
  text.split('\n').forEach((line, i) => {
    if (line === '') return
    const m = LINE.exec(line)
    if (!m) {
      skipped.push({ line: i + 1, reason: 'not a request' })
      return
    }
    const [, sequence, target, client, xid, bytes, phase, arrival, took, late, opcode] = m as unknown as string[]
    requests.push({
      sequence: sequence as string,
      target: target as string,
      client: client as string,
      xid: xid as string,
      bytes: Number(bytes),
      phase: phase as string,
      arrival: arrival as string,
      took: took as string,
      late: late as string,
      opcode: opcode === undefined ? undefined : Number(opcode),
    })
  })
  return { requests, skipped }
}

/** Lines of JSON that the helper's monitor and its profile print (resources/haechi/node.c, profile.c). */
import type { Readable } from 'node:stream'
import * as z from 'zod'

const whole = z.number().int()
const wholes = z.array(whole)

const totals = z.object({
  pushed: whole,
  claimed: whole,
  usedReservation: whole,
  usedGlobal: whole,
  yielded: whole,
  voidedReservation: whole,
  voidedGlobal: whole,
  completed: whole,
})

const line = z.discriminatedUnion('k', [
  z.object({ k: z.literal('ready') }),
  z.object({ k: z.literal('answer'), id: whole, done: z.boolean() }),
  z.object({ k: z.literal('begin'), at: whole, epoch: whole, pool: whole }),
  z.object({ k: z.literal('reports'), at: whole, epoch: whole }),
  z.object({
    k: z.literal('alert'),
    at: whole,
    alert: z.enum(['local-capacity-risk', 'overcommitted', 'bad-report', 'over-reservation', 'silent-client']),
    client: whole,
    a: whole,
    b: whole,
  }),
  z.object({
    k: z.literal('period'),
    epoch: whole,
    start: whole,
    end: whole,
    omega: whole,
    nextOmega: whole,
    action: z.enum(['increase', 'average', 'keep', 'off']),
    reserved: whole,
    initialPool: whole,
    finalPool: whole,
    residual: whole,
    target: whole,
    used: whole,
    claimed: whole,
    yielded: whole,
    conversions: whole,
    casRaces: whole,
    poolChecks: z.array(whole.nullable()),
    /** Client, R, last reported N, yielded. */
    clients: z.array(wholes.length(4)),
    /** Wake-ups by cause; sleeps, and voluntary context switches as the kernel counts them. */
    wakes: z.object({ timer: whole, send: whole, sleeps: whole, switches: whole }),
    cpuNs: whole,
    dataIos: whole,
    /** Conversions that left more live tokens than fit into the period (I1); messages that found a full mailbox. */
    overfull: whole,
    lostMessages: whole,
    droppedLines: whole,
  }),
  z.object({
    k: z.literal('log'),
    client: whole,
    epoch: whole,
    reservation: whole,
    limit: whole,
    completed: whole,
    issued: whole,
    yielded: whole,
    granted: whole,
    xi: whole,
    g: whole,
    inflight: whole,
    copied: whole,
    torn: whole,
    totals,
  }),
  z.object({ k: z.literal('sample'), n: wholes, c: z.array(wholes) }),
  /** Last counts of a client whose process has ended. */
  z.object({
    k: z.literal('last'),
    client: whole,
    epoch: whole,
    xi: whole,
    g: whole,
    granted: whole,
    grantEpoch: whole,
    grantedInEpoch: whole,
    used: whole,
    copied: whole,
  }),
  z.object({ k: z.literal('interval'), ios: whole, ns: whole }),
  z.object({ k: z.literal('end') }),
])
export type HelperLine = z.infer<typeof line>
export type LineOf<K extends HelperLine['k']> = Extract<HelperLine, { k: K }>

const LINE_MAX = 1 << 20

/** Calls `onLine` with each line of a stream; `onFault` with the first that is none of the helper's, and then no more. */
export function readHelperLines(
  stream: Readable,
  onLine: (line: HelperLine) => void,
  onFault: (why: string) => void,
): void {
  let held = ''
  let isFaulty = false
  const take = (text: string): void => {
    let plain: unknown
    try {
      plain = JSON.parse(text)
    } catch {
      plain = undefined
    }
    const read = line.safeParse(plain)
    if (read.success) return onLine(read.data)
    isFaulty = true
    onFault(`unexpected output: ${text.slice(0, 100)}`)
  }
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    if (isFaulty) return
    const lines = (held + chunk).split('\n')
    held = lines.pop() ?? ''
    for (const one of lines) if (!isFaulty) take(one)
    if (held.length <= LINE_MAX || isFaulty) return
    isFaulty = true
    onFault('a line is too long')
  })
}

/**
 * Process of `sluice ccpfs bench`: a server, the metadata server or a client, told by messages of its parent. Clients stay for all runs,
 * so that starting them is not measured.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { formatFailure, type Failure } from '#core/base/result.ts'
import { POLICIES } from '#core/seqdlm/policy.ts'
import { Ccpfs, type CcpfsFile } from '../lib.ts'
import { startMeta } from '../meta.ts'
import { startServer } from '../server.ts'
import { contentOf } from './content.ts'
import { fileOf, operationsOf, WORKLOADS } from './workloads.ts'

const text = z.string().min(1).max(4096)
const whole = z.number().int().nonnegative()
const size = z.object({ clients: whole.min(1), writeBytes: whole.min(1), writes: whole.min(1) })

const request = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('serve'), socket: text, data: text, policy: text, syncsWrites: z.boolean() }),
  z.object({
    kind: z.literal('serve-names'),
    socket: text,
    data: text,
    servers: z.array(text).min(1).max(64),
    stripes: whole.min(1),
    stripeSize: whole.min(4096),
  }),
  z.object({
    kind: z.literal('open'),
    meta: text,
    workload: z.enum(WORKLOADS),
    writer: whole,
    run: whole,
    size,
  }),
  z.object({ kind: z.literal('write') }),
  z.object({ kind: z.literal('flush') }),
  z.object({ kind: z.literal('leave') }),
  z.object({ kind: z.literal('end') }),
])
export type BenchRequest = z.infer<typeof request>

const reply = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done') }),
  z.object({
    kind: z.literal('wrote'),
    /** Unix time, ms. */
    fromMs: z.number(),
    toMs: z.number(),
    lockWaitMs: z.number(),
    lockRequests: whole,
  }),
  z.object({ kind: z.literal('flushed'), toMs: z.number() }),
  z.object({ kind: z.literal('failed'), why: z.string() }),
])
export type BenchReply = z.infer<typeof reply>
export const readReply = (value: unknown): BenchReply => reply.parse(value)

const unixMs = (): number => performance.timeOrigin + performance.now()

interface Opened {
  readonly fs: Ccpfs
  readonly file: CcpfsFile
  readonly given: Extract<BenchRequest, { kind: 'open' }>
}

class Failed extends Error {
  constructor(failure: Failure) {
    super(formatFailure(failure))
  }
}

/** Serves the parent until it says end, or is gone. */
export async function runBenchProcess(): Promise<void> {
  let opened: Opened | undefined
  const send = (message: BenchReply): void => void process.send?.(message)
  const got = <T>(
    result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Failure },
  ): T => {
    if (!result.ok) throw new Failed(result.error)
    return result.value
  }
  const act = async (message: BenchRequest): Promise<BenchReply> => {
    switch (message.kind) {
      case 'serve': {
        const policy = POLICIES.find(({ name }) => name === message.policy)
        if (policy === undefined) return { kind: 'failed', why: `the lock manager ${message.policy} is unknown` }
        const { socket, data, syncsWrites } = message
        got(await startServer({ address: { path: socket }, data, policy, syncsWrites }))
        return { kind: 'done' }
      }
      case 'serve-names': {
        const { socket, data, servers, stripes, stripeSize } = message
        got(await startMeta({ address: { path: socket }, data, servers, stripes, stripeSize }))
        return { kind: 'done' }
      }
      case 'open': {
        const fs = got(await Ccpfs.connect({ meta: { path: message.meta }, connectMs: 20_000 }))
        const file = got(await fs.open(`/${fileOf(message.workload, message.writer)}`, { create: true }))
        opened = { fs, file, given: message }
        return { kind: 'done' }
      }
      case 'write':
        return opened === undefined ? { kind: 'failed', why: 'no file is open' } : write(opened)
      case 'flush':
        if (opened === undefined) return { kind: 'failed', why: 'no file is open' }
        got(await opened.file.fsync())
        return { kind: 'flushed', toMs: unixMs() }
      case 'leave':
        got((await opened?.file.close()) ?? { ok: true, value: undefined })
        await opened?.fs.close()
        opened = undefined
        return { kind: 'done' }
      case 'end':
        process.exit(0)
    }
  }
  const write = async ({ fs, file, given }: Opened): Promise<BenchReply> => {
    const { workload, writer, run } = given
    const operations = operationsOf(workload, writer, given.size).map((operation) => ({
      operation,
      data: contentOf(writer, run, operation),
    }))
    const before = { ...fs.counters }
    const fromMs = unixMs()
    for (const { operation, data } of operations) {
      const [first] = operation
      if (first === undefined) continue
      got(operation.length === 1 ? await file.write(first.start, data) : await file.writeAtomic(operation, data))
      // Revocations are handled between two writes, as a second thread of a client would.
      await nextTurn()
    }
    const toMs = unixMs()
    const lockWaitMs = fs.counters.lockWaitMs - before.lockWaitMs
    return { kind: 'wrote', fromMs, toMs, lockWaitMs, lockRequests: fs.counters.lockRequests - before.lockRequests }
  }
  process.on('disconnect', () => process.exit(0))
  process.on('message', (value) => {
    const read = request.safeParse(value)
    if (!read.success) return send({ kind: 'failed', why: 'the request is not readable' })
    void act(read.data)
      .catch((e: unknown): BenchReply => ({ kind: 'failed', why: e instanceof Error ? e.message : String(e) }))
      .then(send)
  })
  await new Promise(() => undefined)
}

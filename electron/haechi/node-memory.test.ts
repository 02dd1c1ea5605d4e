import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Result } from '#core/base/result.ts'
import type { ToEngine } from '#core/haechi/messages.ts'
import { MAX_TOKENS } from '#core/haechi/settings.ts'
import { MAILBOX_MESSAGES } from './layout.ts'
import type { MonitorTask } from './messages.ts'
import { NodeMemory } from './node-memory.ts'
import { NODE_SETTINGS } from './node-setup.ts'

const SHAPE = { slots: 3, records: 4 }
const value = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(result.error.what)
  return result.value
}
const code = (result: Result<unknown>): string => (result.ok ? 'ok' : result.error.code)
const fresh = (): NodeMemory => value(NodeMemory.allocate(SHAPE))

describe('mailbox', () => {
  const message = fc.oneof(
    fc.record({
      kind: fc.constant('period-start' as const),
      epoch: fc.nat(2 ** 30),
      reservation: fc.nat(MAX_TOKENS),
      limit: fc.option(fc.nat(MAX_TOKENS)),
    }),
    fc.record({ kind: fc.constant('start-report' as const), epoch: fc.nat(2 ** 30) }),
  )

  it('hands over what was sent, in order, however sends and receipts interleave', () => {
    fc.assert(
      fc.property(fc.array(fc.option(message, { freq: 2 }), { maxLength: 80 }), (steps) => {
        const memory = fresh()
        const here = memory.mailbox(1)
        const there = NodeMemory.of(memory.buffer, SHAPE).mailbox(1)
        const sent: ToEngine[] = []
        for (const step of steps) {
          if (step === null) expect(there.receive()).toEqual(sent.shift() ?? null)
          else if (here.send(step)) sent.push(step)
          else expect(sent).toHaveLength(MAILBOX_MESSAGES)
        }
        for (const s of sent) expect(there.receive()).toEqual(s)
        expect([there.receive(), memory.mailbox(0).receive(), memory.mailbox(2).receive()]).toEqual([null, null, null])
      }),
    )
  })

  it('drops and counts messages that are not received', () => {
    const mailbox = fresh().mailbox(0)
    const sent = Array.from({ length: MAILBOX_MESSAGES + 3 }, (_, epoch) =>
      mailbox.send({ kind: 'start-report', epoch }),
    )
    expect(sent.filter((s) => !s)).toHaveLength(3)
    expect(mailbox.lost).toBe(3)
  })
})

describe('wake-ups of the data node', () => {
  it('by no one-sided verb', () => {
    const memory = fresh()
    const { tokens, keys, records } = value(memory.admit(0, 1000))
    const heard = memory.monitorBell
    expect(code(tokens.memory.write(records, 0, new Uint8Array(4096)))).toBe('ok')
    expect(code(tokens.memory.read(records, 4096, new Uint8Array(4096)))).toBe('ok')
    expect(code(tokens.take(keys, 1000))).toBe('ok')
    expect(code(tokens.report(keys, { epoch: 1, residual: 0, spent: 2, completed: 2, beat: 1 }))).toBe('ok')
    memory.sleepMonitor(heard, 1000)
    expect(memory.wakeUps).toEqual({ timer: 1, send: 0, data: 0 })
  })

  it('by a SEND are distinguished from one without a SEND, as an I/O through its CPU would cause', () => {
    const memory = fresh()
    const heard = memory.monitorBell
    memory.sendToMonitor()
    memory.sleepMonitor(heard, 1e9)
    expect(memory.wakeUps).toEqual({ timer: 0, send: 1, data: 0 })
    const again = memory.monitorBell
    memory.ringMonitor()
    memory.sleepMonitor(again, 1e9)
    expect(memory.wakeUps).toEqual({ timer: 0, send: 1, data: 1 })
  })
})

describe('attacks on the memory of a real node', () => {
  it('a second monitor, from another thread', async () => {
    const memory = fresh()
    expect(code(memory.claimMonitor())).toBe('ok')
    expect(code(NodeMemory.of(memory.buffer, SHAPE).claimMonitor())).toBe('E_MONITOR')
    const task: MonitorTask = {
      ...SHAPE,
      role: 'monitor',
      buffer: memory.buffer,
      origin: 0n,
      settings: NODE_SETTINGS,
      profile: { globalIops: 1000, localIops: 1000 },
    }
    const thread = new Worker(join(import.meta.dirname, 'thread.ts'), { workerData: task, execArgv: [] })
    const [reported] = (await once(thread, 'message')) as [unknown]
    expect(reported).toMatchObject({ kind: 'refused', failure: { code: 'E_MONITOR' } })
    memory.releaseMonitor()
    expect(code(NodeMemory.of(memory.buffer, SHAPE).claimMonitor())).toBe('ok')
  })

  it('a client that refills the pool', () => {
    const memory = fresh()
    const { tokens, key } = value(memory.claimMonitor())
    tokens.swapPool(key, tokens.pool().tokens, 500, 1)
    const mine = value(memory.admit(0, 1000))
    const nic = mine.memory
    const forged = [
      nic.writeWord(mine.keys.pool, 0, 0n),
      nic.write(mine.keys.pool, 0, new Uint8Array(8)),
      nic.compareAndSwap(mine.keys.pool, 0, 500n, 1_000_000n),
      nic.takeFrom(mine.keys.pool, 0, -1000),
      nic.takeFrom(mine.keys.slot, 0, 1),
      // The monitor's key belongs to another thread's NIC.
      nic.compareAndSwap(key, 0, 500n, 1_000_000n),
    ]
    expect(forged.map(code)).toEqual(['E_RIGHTS', 'E_RIGHTS', 'E_RIGHTS', 'E_FAA', 'E_RIGHTS', 'E_KEY'])
    expect(tokens.pool()).toEqual({ tokens: 500, epoch: 1 })
    expect(nic.counters.refused).toBe(forged.length)
  })

  it("a client that reports outside its slot, into another's or over both", () => {
    const memory = fresh()
    const { tokens } = value(memory.claimMonitor())
    const mine = value(memory.admit(1, 1000))
    value(memory.admit(2, 1000))
    for (const offset of [-16, 16, 12, 4.5]) {
      expect(code(mine.memory.writeWord(mine.keys.slot, offset, -1n))).toBe('E_BOUNDS')
    }
    expect(code(mine.memory.write(mine.keys.slot, 8, new Uint8Array(16)))).toBe('E_BOUNDS')
    for (const slot of [0, 2]) expect(tokens.slot(slot)).toMatchObject({ epoch: 0, residual: 0, completed: 0 })
  })

  it('a client that reaches counters, mailboxes or the pool through the key of the records', () => {
    const memory = fresh()
    const mine = value(memory.admit(0, 1000))
    const { store, mailboxes, control, bytes } = memory.layout
    const ones = new Uint8Array(8).fill(255)
    for (const at of [0, control, mailboxes, bytes]) {
      expect(code(mine.memory.write(mine.records, at - store, ones))).toBe('E_BOUNDS')
    }
    expect(new Uint8Array(memory.buffer).every((byte) => byte === 0)).toBe(true)
  })
})

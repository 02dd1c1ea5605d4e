import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, ref, type ShallowRef } from 'vue'
import type { RulesFrame, StatusFrame } from '#core/api/frames.ts'
import type { Client } from '../stores/client.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useSettingsStore } from '../stores/settings.ts'
import { useSourceStore } from '../stores/source.ts'
import { useTimeStore } from '../stores/time.ts'
import { useStream } from './use-stream.ts'

interface Opened {
  readonly input: { stream: string; node: string; hz: number; at: number | null }
  readonly signal: AbortSignal
  send(seq: number, sample?: number, turn?: number, isAhead?: boolean, rows?: readonly unknown[]): void
  end(): void
}

/** Host that opens streams on demand and records acknowledgements. */
function fakeHost() {
  const opened: Opened[] = []
  const acks: { stream: string; seq: number }[] = []
  const moves: { stream: string; at: number | null }[] = []
  let answerMove: (isKnown: boolean) => void = () => undefined
  async function rules(
    input: Opened['input'],
    { signal }: { signal: AbortSignal },
  ): Promise<AsyncIterable<RulesFrame>> {
    const queue: (RulesFrame | null)[] = []
    let wake = (): void => undefined
    const push = (frame: RulesFrame | null): void => {
      queue.push(frame)
      wake()
    }
    const send = (seq: number, sample = seq, turn = 0, isAhead = false, rows: readonly unknown[] = []): void =>
      push({ seq, sample, turn, rows, atMs: sample * 1000, ...(isAhead && { isAhead }) } as unknown as RulesFrame)
    opened.push({ input, signal, send, end: () => push(null) })
    return (async function* () {
      while (!signal.aborted) {
        const next = queue.shift()
        if (next === null) return
        if (next) yield next
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    })()
  }
  const ack = async (a: { stream: string; seq: number }): Promise<void> => void acks.push(a)
  const stand = (move: (typeof moves)[number]): Promise<boolean> => {
    moves.push(move)
    return new Promise((resolve) => (answerMove = resolve))
  }
  const api = { views: { rules, stand }, host: { ack } } as unknown as Client
  return { opened, acks, moves, moved: (known = true) => answerMove(known), host: { api }, last: () => opened.at(-1)! }
}

let frames: (() => void)[] = []
/** Runs one animation frame and everything that follows from it. */
async function paint(): Promise<void> {
  await flushPromises()
  for (const run of frames.splice(0)) run()
  await flushPromises()
}
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => frames.push(run))
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }))
  frames = []
  setActivePinia(createPinia())
})
afterEach(() => {
  vi.runOnlyPendingTimers()
  for (const run of frames.splice(0)) run() // the pass that is under way belongs to this test
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const show = (cluster: string, kind = 'LIVE', turn = 0): void =>
  useSourceStore().apply({
    source: { kind, cluster },
    sample: 50,
    atMs: 50_000,
    turn,
    clock: { intervalMs: 1000 },
  } as StatusFrame)

function start() {
  const fake = fakeHost()
  const node = ref('oss01')
  let frame!: ShallowRef<RulesFrame | null>
  show('altair')
  useConnectionStore().opened(fake.host)
  const wrapper = mount(
    defineComponent(() => {
      ;({ frame } = useStream('rules', () => ({ node: node.value, queue: 'reg' }), { isView: true }))
      return () => h('p', frame.value?.seq)
    }),
  )
  return { ...fake, node, wrapper, shown: () => frame.value?.seq ?? null }
}

it('renders only the newest frame per animation frame, and acknowledges it after rendering', async () => {
  const { acks, last, shown, wrapper } = start()
  await paint()
  last().send(1)
  last().send(2)
  last().send(3)
  await flushPromises()
  expect([shown(), acks.length]).toEqual([null, 0])
  await paint()
  expect([shown(), wrapper.text()]).toEqual([3, '3'])
  expect(acks).toEqual([{ stream: last().input.stream, seq: 3 }])
  expect(useTimeStore().sample).toBe(3)
})

it('lets the clock follow the newest sample when it was the last view that showed any', async () => {
  const { last, wrapper } = start()
  await paint()
  last().send(3)
  await paint()
  const time = useTimeStore()
  expect(time.sample).toBe(3)
  wrapper.unmount()
  expect([time.sample, time.atMs]).toEqual([50, 50_000])
})

it('keeps a paused cursor where it is while views change', async () => {
  const { last, wrapper } = start()
  await paint()
  last().send(1, 49)
  await paint()
  const time = useTimeStore()
  time.pause()
  wrapper.unmount()
  expect([time.sample, time.noted?.sample]).toEqual([49, 49])
})

it('aborts the old stream on a new query and keeps its frame until the new one has one', async () => {
  const { opened, node, last, shown } = start()
  await paint()
  last().send(1)
  await paint()
  node.value = 'oss02'
  await flushPromises()
  vi.advanceTimersByTime(40)
  await paint()
  expect(opened.map((s) => [s.input.node, s.signal.aborted])).toEqual([
    ['oss01', true],
    ['oss02', false],
  ])
  expect(shown()).toBe(1)
  opened[0]?.send(9)
  await paint()
  expect(shown()).toBe(1)
  last().send(2)
  await paint()
  expect(shown()).toBe(2)
  expect(new Set(opened.map((s) => s.input.stream)).size).toBe(2)
})

it('shows nothing of one source under the name of another', async () => {
  const { opened, last, shown } = start()
  await paint()
  last().send(1)
  await paint()
  show('altair')
  expect(shown()).toBe(1)
  last().send(2)
  await flushPromises()
  show('borealis')
  expect(shown()).toBeNull()
  await paint() // a frame that was on its way
  expect(shown()).toBeNull()
  vi.advanceTimersByTime(40)
  await paint()
  expect(opened.map((s) => s.signal.aborted)).toEqual([true, false])
  last().send(1)
  await paint()
  expect(shown()).toBe(1)
})

it('asks once for a burst of changes, at the paused sample, at the chosen rate', async () => {
  const { opened, last } = start()
  await paint()
  const time = useTimeStore()
  useSettingsStore().hz = 2
  for (let i = 0; i < 5; i++) {
    time.step(-1)
    await flushPromises()
    vi.advanceTimersByTime(5)
  }
  vi.advanceTimersByTime(40)
  await paint()
  expect(opened.length).toBeLessThanOrEqual(3)
  expect(last().input).toMatchObject({ at: 45, hz: 2 })
})

it('ends with the component, and without a connection', async () => {
  const { opened, last, shown, wrapper } = start()
  await paint()
  last().send(1)
  await paint()
  useConnectionStore().lost(1000)
  await flushPromises()
  vi.advanceTimersByTime(40)
  expect([last().signal.aborted, shown()]).toEqual([true, 1])
  const again = fakeHost()
  useConnectionStore().opened(again.host)
  await flushPromises()
  vi.advanceTimersByTime(40)
  await paint()
  expect([opened.length, again.opened.length]).toEqual([1, 1])
  wrapper.unmount()
  expect(again.last().signal.aborted).toBe(true)
})

it('opens a stream again that the host has ended', async () => {
  const { opened, last } = start()
  await paint()
  last().end()
  await flushPromises()
  vi.advanceTimersByTime(1100)
  await paint()
  expect(opened.length).toBe(2)
})

it('moves a paused cursor within its stream, one move at a time, the newest wins', async () => {
  const { opened, moves, moved, last, shown } = start()
  await paint()
  const time = useTimeStore()
  time.goTo(40)
  await flushPromises()
  vi.advanceTimersByTime(40)
  await paint()
  expect(opened.map((s) => s.input.at)).toEqual([null, 40])
  time.step(-1) // before its first frame: said as soon as it runs
  await flushPromises()
  expect(moves).toEqual([])
  last().send(1, 40)
  await paint()
  const { stream } = last().input
  expect(moves).toEqual([{ stream, at: 39 }])
  for (let i = 0; i < 9; i++) {
    time.step(-1)
    await flushPromises()
  }
  expect(moves).toHaveLength(1)
  moved()
  await flushPromises()
  expect(moves).toEqual([
    { stream, at: 39 },
    { stream, at: 30 },
  ])
  last().send(2, 30)
  await paint()
  expect([shown(), time.sample, opened.length]).toEqual([2, 30, 2])
  moved()
  await flushPromises()
  expect(moves).toHaveLength(2)
})

it('reopens the stream if the host no longer has it', async () => {
  const { opened, moved, last } = start()
  await paint()
  const time = useTimeStore()
  time.goTo(40)
  await flushPromises()
  vi.advanceTimersByTime(40)
  last().send(1, 40)
  await paint()
  time.step(-1)
  await flushPromises()
  moved(false)
  await flushPromises()
  vi.advanceTimersByTime(40)
  await paint()
  expect(opened.map((s) => s.input.at)).toEqual([null, 40, 39])
})

it('keeps the old frame, with its name, until a playback of the same cluster has a frame', async () => {
  const { opened, last, shown } = start()
  await paint()
  last().send(1)
  await paint()
  const source = useSourceStore()
  last().send(2, 7, 1) // of the playback, before the status has told of it
  await paint()
  expect(shown()).toBe(1)
  show('altair', 'RECORDED', 1)
  expect([shown(), source.naming?.kind, source.isTurning]).toEqual([1, 'LIVE', true])
  await flushPromises()
  vi.advanceTimersByTime(40)
  await paint()
  expect(opened.map((s) => s.signal.aborted)).toEqual([true, false])
  expect([shown(), source.isTurning]).toEqual([1, true])
  last().send(1, 7, 1)
  await paint()
  expect([shown(), source.naming?.kind, source.isTurning, useTimeStore().sample]).toEqual([1, 'RECORDED', false, 7])
})

it('does not show a reopened view data from before a change of source', async () => {
  const first = start()
  await paint()
  first.last().send(4)
  await paint()
  first.wrapper.unmount()
  show('altair', 'RECORDED', 1)
  let frame!: ShallowRef<RulesFrame | null>
  const wrapper = mount(
    defineComponent(() => {
      ;({ frame } = useStream('rules', () => ({ node: 'oss01', queue: 'reg' }), { isView: true }))
      return () => h('p')
    }),
  )
  expect(frame.value).toBeNull()
  wrapper.unmount()
})

it('steps to a prefetched frame at once, and replaces it if the host\u2019s frame differs', async () => {
  const { last, shown, moves, moved } = start()
  await paint()
  last().send(1, 40)
  await paint()
  useTimeStore().goTo(40)
  await vi.advanceTimersByTimeAsync(50)
  last().send(1, 40)
  await paint()
  last().send(2, 39, 0, true)
  await paint()
  expect(shown()).toBe(1)
  useTimeStore().step(-1)
  await paint()
  expect([shown(), useTimeStore().noted?.sample, moves.at(-1)?.at]).toEqual([2, 39, 39])
  moved()
  last().send(3, 39)
  await paint()
  expect(shown()).toBe(2)
  last().send(4, 39, 0, false, [1])
  await paint()
  expect(shown()).toBe(4)
})

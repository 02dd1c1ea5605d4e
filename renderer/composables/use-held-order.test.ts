import { effectScope, nextTick, ref, shallowRef } from 'vue'
import { afterEach, expect, it, vi } from 'vitest'
import { inHeldOrder, useHeldOrder } from './use-held-order.ts'

afterEach(() => void vi.useRealTimers())
const rowsOf = (...ids: string[]) => ids.map((id) => ({ id }))
const idsOf = (rows: readonly { id: string }[]): string => rows.map((row) => row.id).join('')

it('keeps places under the pointer, drops what has gone and appends what is new', () => {
  expect(idsOf(inHeldOrder(rowsOf('c', 'b', 'a'), ['a', 'b', 'c']))).toBe('abc')
  expect(idsOf(inHeldOrder(rowsOf('d', 'c', 'a'), ['a', 'b', 'c']))).toBe('adc')
  expect(idsOf(inHeldOrder(rowsOf('a', 'b', 'x'), ['b', 'a']))).toBe('bax')
})

it('holds while hovered, and applies a requested order at once', async () => {
  const fresh = shallowRef(rowsOf('a', 'b'))
  const sort = ref('rpcs')
  const scope = effectScope()
  const { rows, isHovered } = scope.run(() =>
    useHeldOrder(
      () => fresh.value,
      () => sort.value,
    ),
  )!
  isHovered.value = true
  await nextTick()
  fresh.value = rowsOf('b', 'a')
  await nextTick()
  expect(idsOf(rows.value)).toBe('ab')
  sort.value = 'jobId'
  await nextTick()
  expect(idsOf(rows.value)).toBe('ba')
  fresh.value = rowsOf('b', 'a', 'c')
  await nextTick()
  fresh.value = rowsOf('c', 'a', 'b')
  await nextTick()
  expect(idsOf(rows.value)).toBe('bac')
  isHovered.value = false
  await nextTick()
  expect(idsOf(rows.value)).toBe('cab')
  scope.stop()
})

it('changes order and values together at its pace, so that the order always matches the values', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const frame = (a: number, b: number, more: object = {}) =>
    [
      { id: 'a', rpcs: a, ...more },
      { id: 'b', rpcs: b, ...more },
    ].sort((x, y) => y.rpcs - x.rpcs)
  const fresh = shallowRef(frame(9, 5))
  const pace = ref(1000)
  const scope = effectScope()
  const { rows, isHovered } = scope.run(() =>
    useHeldOrder(
      () => fresh.value,
      () => '',
      () => pace.value,
    ),
  )!
  const send = async (next: ReturnType<typeof frame>): Promise<void> => {
    fresh.value = next
    await nextTick()
  }
  const shown = (): number[] => rows.value.map(({ rpcs }) => rpcs)
  await send(frame(9, 5))
  for (let i = 0; i < 12; i++) {
    vi.advanceTimersByTime(100)
    await send(i % 2 === 0 ? frame(3, 8) : frame(9, 4))
    expect(shown()).toEqual(shown().toSorted((x, y) => y - x))
  }
  await send(frame(1, 2))
  // The last rows are shown although none follow.
  vi.advanceTimersByTime(2200)
  expect(shown()).toEqual([2, 1])
  await send(frame(7, 6))
  expect(shown()).toEqual([2, 1])
  isHovered.value = true
  await nextTick()
  // Under the pointer only values change.
  expect(rows.value).toMatchObject([
    { id: 'b', rpcs: 6 },
    { id: 'a', rpcs: 7 },
  ])
  isHovered.value = false
  await nextTick()
  expect(shown()).toEqual([7, 6])
  await send(frame(1, 2, { compared: {} }))
  expect(shown()).toEqual([2, 1])
  await send(frame(8, 9, { compared: {} }))
  pace.value = 0
  expect(shown()).toEqual([9, 8])
  scope.stop()
})

it('joins a frame that arrives slightly early, so that its rows do not cost a picture of their own', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const fresh = shallowRef([{ id: 'a', rpcs: 0 }])
  const scope = effectScope()
  const { rows } = scope.run(() =>
    useHeldOrder(
      () => fresh.value,
      () => '',
      () => 1000,
    ),
  )!
  const shown: (number | undefined)[] = []
  for (let i = 1; i <= 5; i++) {
    vi.advanceTimersByTime(950)
    shown.push(rows.value[0]?.rpcs)
    fresh.value = [{ id: 'a', rpcs: i }]
    await nextTick()
    shown.push(rows.value[0]?.rpcs)
  }
  expect(shown).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4, 5])
  scope.stop()
})

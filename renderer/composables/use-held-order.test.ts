import { nextTick, ref, shallowRef } from 'vue'
import { expect, it } from 'vitest'
import { inHeldOrder, useHeldOrder } from './use-held-order.ts'

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
  const { rows, isHovered } = useHeldOrder(
    () => fresh.value,
    () => sort.value,
  )
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
})

import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import type { Mark } from '#core/api/history.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { useLinkedMarks } from './use-linked-marks.ts'

beforeEach(() => setActivePinia(createPinia()))
const mark = (text: string, where = ''): Mark => ({
  atMs: 1,
  kind: 'start',
  level: 'ok',
  subject: 'Rule',
  text,
  where,
})

it('links an event to the selection by names in its text and by its place', () => {
  const selection = useSelectionStore()
  const { relationOf, isRelated } = useLinkedMarks()
  expect([relationOf(mark('cap_4601 started')), isRelated.value]).toEqual([null, undefined])
  selection.choose('target', 'demo-OST0001')
  selection.apply({
    seq: 1,
    sample: 9,
    atMs: 9000,
    kind: 'target',
    id: 'demo-OST0001',
    isHere: true,
    jobs: 1,
    job: ['4601.hdf.u1'],
    target: ['demo-OST0001'],
    rule: ['cap_4601'],
    user: ['u1'],
    node: ['oss01'],
    client: [],
    resource: [],
  })
  expect(relationOf(mark('records restored', 'demo-OST0001'))).toBe('chosen')
  expect(relationOf(mark('cap_4601 started by dev, ref 48'))).toBe('linked')
  expect(relationOf(mark('4601.hdf.u1 started I/O.'))).toBe('linked')
  expect(relationOf(mark('no answer in 3 s', 'oss01'))).toBe('linked')
  // A name inside another word does not match.
  expect(relationOf(mark('cap_46019 started', 'oss011'))).toBeNull()
  expect(isRelated.value?.(mark('cap_4601 stopped'))).toBe(true)
  selection.clear()
  expect(isRelated.value).toBeUndefined()
})

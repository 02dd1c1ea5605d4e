import { mount, type VueWrapper } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import type { PastChange } from '#core/api/rule-edits.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import UndoList from './UndoList.vue'

const NOW_MS = 1_767_225_600_000
let wrapper: VueWrapper
freshPage(1200, () => wrapper.unmount())

const change = (id: string, patch: Partial<PastChange>): PastChange => ({
  id,
  atMs: NOW_MS - 60_000,
  title: `start ${id}`,
  reason: '',
  nodes: [{ host: 'oss01', state: 'done', detail: '' }],
  inverse: [`reg stop ${id}`],
  expiresMs: null,
  undone: false,
  revertible: true,
  pending: [],
  ...patch,
})

it('shows a countdown and a revert only for rules that are in force', async () => {
  const changes = [
    change('active', { expiresMs: NOW_MS + 90_000 }),
    change('reverted', { expiresMs: NOW_MS + 90_000, undone: true, revertible: false }),
    change('expired', { expiresMs: NOW_MS - 10_000, revertible: false }),
  ]
  wrapper = mount(UndoList, { props: { changes, nowMs: NOW_MS, open: true }, attachTo: document.body })
  await vi.waitFor(() => expect(document.querySelectorAll('[data-testid=past-change]')).toHaveLength(3))
  const shown = [...document.querySelectorAll('[data-testid=past-change]')].map((row) => [
    row.textContent?.includes('expires in') ?? false,
    row.querySelector('[data-testid=stage-inverse]') !== null,
  ])
  expect(shown).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ])
  const [, , expired] = document.querySelectorAll('[data-testid=past-change]')
  expect(expired?.textContent).toMatch(/nothing to revert.*expired at/s)
})

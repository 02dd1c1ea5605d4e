import { mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick, reactive } from 'vue'
import type { JobsFrame } from '#core/api/frames.ts'
import { targetRow, stepRow } from '../../reach/tables.ts'
import JobGroups from './JobGroups.vue'

type Groups = NonNullable<JobsFrame['groups']>
const groupsOf = (...name: string[]): Groups => {
  const each = name.map(() => 1)
  return {
    by: 'user',
    known: name.length,
    name,
    count: each,
    nodes: each,
    rpcs: each,
    readBps: each,
    writeBps: each,
    mdops: each,
    throttled: each,
    record: each,
  }
}

let wrapper: VueWrapper
const chosen = reactive({ name: '' })
beforeEach(() => {
  chosen.name = ''
  vi.spyOn(Element.prototype, 'scrollIntoView').mockReturnValue()
  wrapper = mount(JobGroups, {
    props: {
      groups: groupsOf('ana', 'bo', 'cy'),
      tiedOf: (name: string) => (name === chosen.name ? 'chosen' : name === 'cy' ? 'linked' : null),
      onSelect: (name: string) => (chosen.name = name),
    },
    attachTo: document.body,
  })
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.restoreAllMocks()
})
const table = () => wrapper.get('table')
/** Row announced by a screen reader. */
const named = (): string | undefined =>
  document.getElementById(table().attributes('aria-activedescendant') ?? '')?.dataset['row']
const press = (key: string) => table().trigger('keydown', { key })

describe('groups of jobs without a mouse', () => {
  it('are moved through by arrows, Home and End, and opened by Enter', async () => {
    expect(named()).toBeUndefined()
    await press('ArrowDown')
    expect([named(), chosen.name]).toEqual(['ana', 'ana'])
    await press('ArrowDown')
    await press('ArrowDown')
    await press('ArrowDown')
    expect([named(), chosen.name]).toEqual(['cy', 'cy'])
    await press('Home')
    await press('Enter')
    expect(wrapper.emitted('open')).toEqual([['ana']])
    expect(table().attributes()).toMatchObject({ role: 'grid', tabindex: '0' })
  })

  it('keep the current row when the order changes', async () => {
    await press('ArrowDown')
    await wrapper.setProps({ groups: groupsOf('cy', 'bo', 'ana') })
    expect(named()).toBe('ana')
    await press('ArrowUp')
    expect(named()).toBe('bo')
  })

  it('continue from the row that was clicked or selected elsewhere, by j and k as by arrows', async () => {
    await wrapper.findAll('[data-testid="group-row"]')[1]?.trigger('click')
    expect([named(), chosen.name]).toEqual(['bo', 'bo'])
    expect(stepRow(table().element, 1)).toBe(true)
    await nextTick()
    expect([named(), targetRow(table().element)?.dataset['row']]).toEqual(['cy', 'cy'])
    chosen.name = 'ana'
    await nextTick()
    expect(named()).toBe('ana')
  })

  it('mark the selection differently from related rows', async () => {
    chosen.name = 'ana'
    await nextTick()
    const rows = wrapper.findAll('[data-testid="group-row"]')
    expect(rows.map((row) => [row.classes('sel'), row.classes('tied')])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ])
  })
})

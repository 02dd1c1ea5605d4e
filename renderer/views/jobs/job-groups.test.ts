import { mount, type VueWrapper } from '@vue/test-utils'
import { beforeEach, describe, expect, it } from 'vitest'
import { nextTick, reactive } from 'vue'
import type { JobsFrame } from '#core/api/frames.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
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
freshPage(900, () => wrapper.unmount())
beforeEach(async () => {
  chosen.name = ''
  wrapper = mount(JobGroups, {
    props: {
      groups: groupsOf('ana', 'bo', 'cy'),
      rowHeight: 24,
      relationOf: (name: string) => (name === chosen.name ? 'chosen' : name === 'cy' ? 'linked' : null),
      onSelect: (name: string) => (chosen.name = name),
    },
    attachTo: document.body,
  })
  await nextTick()
})
const table = () => wrapper.get('[role="grid"]')
/** Row announced by a screen reader. */
const named = (): string | undefined =>
  document.getElementById(table().attributes('aria-activedescendant') ?? '')?.dataset['row']
const press = (key: string) => table().trigger('keydown', { key })

describe('groups of jobs without a mouse', () => {
  it('are moved through by arrows, Home and End, and opened by Enter', async () => {
    expect([named(), chosen.name, wrapper.find('.cursor').exists()]).toEqual(['ana', '', false])
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

  it('are in the order of the host: most RPC/s first', () => {
    const heads = table().findAll('[role=columnheader]')
    expect(heads.map((head) => head.attributes('data-col'))).toEqual([
      ...['name', 'count', 'nodes', 'rpcs', 'readBps', 'writeBps', 'mdops', 'throttled', 'record'],
    ])
    expect(heads.flatMap((head) => (head.attributes('aria-sort') ? head.text() : []))).toEqual(['RPC/s'])
    expect(document.getElementById(table().attributes('aria-describedby') ?? '')?.textContent).toContain('3 groups')
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

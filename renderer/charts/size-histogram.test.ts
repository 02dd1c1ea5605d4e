import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { factTable } from './facts.ts'
import { factsOf } from './use-chart-facts.ts'
import SizeHistogram from './SizeHistogram.vue'
import Sparkline from './Sparkline.vue'

it('gives shares by size as text and as a table', () => {
  const sizes = [
    { bytes: 4096, share: 0.05 },
    { bytes: 65_536, share: 0.2 },
    { bytes: 1_048_576, share: 0.75 },
  ]
  const wrapper = mount(SizeHistogram, { props: { sizes }, attachTo: document.body })
  const chart = wrapper.get('[role=img]')
  expect(chart.attributes('aria-label')).toMatch(/^Share of RPCs by size: most up to 1.?M.* 75.0.%/)
  expect(chart.attributes('tabindex')).toBe('0')
  const facts = factsOf(chart.element)
  if (facts === null) throw new Error('no facts')
  const { heads, rows } = factTable(facts, null)
  expect(heads).toEqual(['Size up to', 'Share'])
  expect(rows).toHaveLength(3)
  expect(rows[1]?.values[0]).toMatch(/^20.0.%$/)
  wrapper.unmount()
  expect(factsOf(chart.element)).toBeNull()
})

it('describes a labeled sparkline, and hides an unlabeled one from screen readers', () => {
  const values = [10, 12, 11, 20, null, 30]
  const named = mount(Sparkline, { props: { values, width: 40, label: 'Course of RPC/s' } })
  expect(named.attributes()).toMatchObject({ role: 'img' })
  expect(named.attributes('aria-label')).toMatch(
    /^Course of RPC\/s: lowest 33.% of the highest.*, 1 value not measured$/,
  )
  const silent = mount(Sparkline, { props: { values, width: 40 } })
  expect([silent.attributes('aria-hidden'), silent.attributes('role')]).toEqual(['true', undefined])
})

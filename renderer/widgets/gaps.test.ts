/** Missing values in the small charts of a table: a gap, never a bar or a point at zero. */
import { mount } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import { runs } from './canvas.ts'
import Meter from './Meter.vue'
import Sparkline from '../charts/Sparkline.vue'

describe('a gap', () => {
  it('interrupts a line, for null and non-finite values', () => {
    expect(runs([1, null, 2, NaN, 3, Infinity])).toEqual([
      [0, 0],
      [2, 2],
      [4, 4],
    ])
    expect(runs([null, NaN])).toEqual([])
  })

  it('is left open in a sparkline, which stays on its scale', () => {
    const paths = (values: (number | null)[]): string[] =>
      mount(Sparkline, { props: { values } })
        .findAll('path')
        .map((path) => path.attributes('d') ?? '')
    for (const gap of [null, NaN]) {
      const [fill = '', line = ''] = paths([4, 4, gap, 4, 4])
      expect(`${fill}${line}`).not.toContain('NaN')
      expect(fill.match(/M/g)).toHaveLength(2)
      expect(line.match(/M/g)).toHaveLength(2)
    }
    expect(paths([null, null, null]).join('')).toBe('')
  })

  it('has no bar in a meter', () => {
    for (const share of [null, NaN]) expect(mount(Meter, { props: { share } }).find('i').exists()).toBe(false)
    expect(
      mount(Meter, { props: { share: 0.25 } })
        .find('i')
        .attributes('style'),
    ).toContain('25%')
  })
})

import { describe, expect, it } from 'vitest'
import { getParamCommand } from '#core/lustre/lctl.ts'
import { filteredCommand, filterTail, readFiltered } from './job-filter.ts'

describe('job_stats cut down on the server', () => {
  it('is one line of a fixed form', () => {
    const names = ['obdfilter.*.job_stats', 'ost.OSS.ost_io.nrs_policies']
    const line = filteredCommand(names, { s: 1_700_000_000, ns: 5 })
    expect(readFiltered(line)).toEqual({ reading: getParamCommand(...names), after: { s: 1_700_000_000, ns: 5 } })
    for (const other of [
      line.replace('awk', 'gawk'),
      `${line} `,
      line.replace('s=17', 's=$(x)'),
      line.replace('{f()}', '{}'),
    ]) {
      expect(readFiltered(other)).toBeUndefined()
    }
    for (const s of [-1, 1.5, NaN, Infinity, 1e13]) expect(() => filterTail({ s, ns: 0 })).toThrow(RangeError)
  })
})

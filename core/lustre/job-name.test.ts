import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expandJobId, isKernelThread, type ClientProcess } from '../../tests/client-job-id.ts'
import { JOB_NAME_DIALECTS, parseJobName } from './job-name.ts'

const dd: ClientProcess = { executable: 'cp_big', uid: 0, gid: 100, pid: 990, host: 'lvm.cluster.org', job: undefined }
const expand = (
  template: string,
  process: Partial<ClientProcess> = {},
  release: keyof typeof JOB_NAME_DIALECTS = 'dev',
) => expandJobId(parseJobName(template, JOB_NAME_DIALECTS[release]), { ...dd, ...process })

describe('expandJobId', () => {
  it('matches the recorded behavior of clients', () => {
    expect(expand('%e.%H')).toBe('cp_big.lvm')
    expect(expand('%e.%H', { executable: 'my prog' })).toBe('my prog.lvm')
    expect(expand('%u.%g')).toBe('0.100')
    expect(expand('%e:%p')).toBe('cp_big:990')
    expect(expand('lit')).toBe('lit')
    expect(expand('%j')).toBe('')
    expect(expand('%z%e')).toBe('cp_big')
    expect(expand('%e %u')).toBe('cp_big0')
    expect(expand('%.3e.%u')).toBe('cp_.0')
    expect(expand('%j?%H')).toBe('lvm')
    expect(expand('%j?%H', { job: '4711' })).toBe('4711')
    expect(expand('%j?%H.%u')).toBe('lvm.0')
    expect(expand('%e.%u.%g.%h.%p')).toBe('cp_big.0.100.lvm.cluster.org.99')
  })

  it('matches the recorded behavior of 2.15.8 clients', () => {
    expect(expand('%.3e.%u', {}, '2.15')).toBe('3e.0')
    expect(expand('%j?%H', {}, '2.15')).toBe('?lvm')
  })

  it('knows no job of kernel threads, and all kworkers by one name', () => {
    expect(expand('%j?%e', { executable: 'kworker/0:0', job: '4711' })).toBe('kworker')
    expect(expand('%e.%u', { executable: 'kworker/u8:1' })).toBe('kworker.0')
    expect(['ptlrpcd_00_01', 'kswapd0', 'll_sa_4711', 'dd'].map(isKernelThread)).toEqual([true, true, true, false])
  })

  it('ends without a fault in any template', () => {
    const piece = fc.oneof(
      fc.constantFrom('%', '%.', '%.5', '%.5h', '%j?', '%%', '?', ' ', '%e'),
      fc.string({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const id = expand(pieces.join(''))
        expect(id.length).toBeLessThanOrEqual(31)
      }),
    )
  })
})

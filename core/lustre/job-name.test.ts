import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expandJobId, isKernelThread, type ClientProcess } from './expand-job-name.ts'
import { JOB_NAME_DIALECTS, parseJobName } from './job-name.ts'
import { splitJobId } from './split-job-id.ts'

const dd: ClientProcess = { executable: 'cp_big', uid: 0, gid: 100, pid: 990, host: 'lvm.cluster.org', job: undefined }
const expand = (
  template: string,
  process: Partial<ClientProcess> = {},
  release: keyof typeof JOB_NAME_DIALECTS = 'dev',
) => expandJobId(parseJobName(template, JOB_NAME_DIALECTS[release]), { ...dd, ...process })

describe('expandJobId', () => {
  it('does what clients were seen to do', () => {
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

  it('does what clients of 2.15.8 were seen to do', () => {
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
        for (const release of ['2.15', 'dev'] as const)
          splitJobId(parseJobName(pieces.join(''), JOB_NAME_DIALECTS[release]), id)
      }),
    )
  })
})

describe('splitJobId', () => {
  const split = (template: string, id: string) => {
    const columns = splitJobId(parseJobName(template), id)
    return Object.fromEntries(Object.entries(columns).filter(([, v]) => v !== undefined && v !== false))
  }

  it('takes the rightmost fit where a name holds what separates', () => {
    expect(split('%e.%u', 'dd.500')).toEqual({ executable: 'dd', user: '500' })
    expect(split('%e.%u', 'python3.11.1000')).toEqual({ executable: 'python3.11', user: '1000' })
    expect(split('%j.%e.%u', '4655.vasp_std.340')).toEqual({ job: '4655', executable: 'vasp_std', user: '340' })
    expect(split('%j.%e.%u', '.dd.0')).toEqual({ executable: 'dd', user: '0' })
    expect(split('%e.%u.%H', 'a.b.7.n01')).toEqual({ executable: 'a.b', user: '7', host: 'n01' })
  })

  it('gives no columns of an id that the template did not make', () => {
    expect(split('%e.%u', 'kworker')).toEqual({})
    expect(split('%e.%u', 'dd.root')).toEqual({})
    expect(split('%u.%u', '1.2')).toEqual({})
    expect(split('lit', 'lit')).toEqual({})
    expect(split('%e.%u', '')).toEqual({})
  })

  it('keeps to the widths', () => {
    expect(split('%.3e%u', 'cp_500')).toEqual({ executable: 'cp_', user: '500' })
    expect(split('%.2H.%e', 'abc.dd')).toEqual({})
  })

  it('guesses between a job and what stands in for it, and says so', () => {
    expect(split('%j?%H', '4711')).toEqual({ job: '4711', isGuess: true })
    expect(split('%j?%H', 'login1')).toEqual({ host: 'login1', isGuess: true })
    expect(split('%j?%H', 'array_[1]')).toEqual({ job: 'array_[1]', isGuess: true })
    expect(split('%j?%H:%u', 'login1:0')).toEqual({ host: 'login1', user: '0', isGuess: true })
  })

  it('marks an id that may be cut off, and takes what is left of it', () => {
    expect(split('%j.%e.%u', '12345678901234.long_program.500')).toEqual({
      job: '12345678901234',
      executable: 'long_program',
      user: '500',
      isTruncated: true,
    })
    expect(split('%e:%u:%h', 'long_program:1000:node0001.clus')).toEqual({
      executable: 'long_program',
      user: '1000',
      host: 'node0001.clus',
      isTruncated: true,
    })
    expect(split('%H:%u:%e', 'a_host_of_a_very_long_name_0001')).toEqual({
      host: 'a_host_of_a_very_long_name_0001',
      isTruncated: true,
    })
  })

  it('finds in an expanded id what went into it', () => {
    const bytes = fc.array(fc.nat(255), { minLength: 1, maxLength: 15 }).map((c) => String.fromCharCode(...c))
    const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,5}$/)
    const process = fc.record({
      // Neither a kernel thread nor what the test separates with at its end is anything special.
      executable: bytes.filter((e) => !isKernelThread(e)),
      uid: fc.nat(99_999),
      gid: fc.nat(999),
      pid: fc.nat(9999),
      host: word,
      job: fc.nat(999_999).map(String),
    })
    const codes = fc.shuffledSubarray(['%u', '%g', '%H', '%p', '%j'], { minLength: 0 })
    fc.assert(
      fc.property(process, codes, fc.constantFrom('.', ':', '@'), fc.boolean(), (p, rest, separator, hasWidth) => {
        const template = [hasWidth ? '%.4e' : '%e', ...rest].join(separator)
        const id = expandJobId(parseJobName(template), p)
        const columns = splitJobId(parseJobName(template), id)
        expect(columns.isTruncated).toBe(id.length === 31)
        if (columns.isTruncated) return
        const has = (code: string): boolean => rest.includes(code)
        expect(columns).toEqual({
          executable: hasWidth ? p.executable.slice(0, 4) : p.executable,
          user: has('%u') ? String(p.uid) : undefined,
          group: has('%g') ? String(p.gid) : undefined,
          pid: has('%p') ? String(p.pid) : undefined,
          host: has('%H') ? p.host : undefined,
          job: has('%j') ? p.job : undefined,
          isTruncated: false,
          isGuess: false,
        })
      }),
      { numRuns: 1000 },
    )
  })

  it('is done at once with the most ambiguous template and id', () => {
    const columns = splitJobId(parseJobName('%e'.repeat(15)), 'a'.repeat(31))
    expect(columns.isTruncated).toBe(true)
    expect(splitJobId(parseJobName(`${'%e'.repeat(14)}%u`), 'a'.repeat(30)).executable).toBeUndefined()
  })
})

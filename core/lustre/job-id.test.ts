import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fail, ok } from '../base/result.ts'
import { formatJobId, parseDropName, parseJobId } from './job-id.ts'
import { profile } from './profile.ts'
import type { Release } from './release.ts'

const ids = (release: Release) => profile(release).text.jobStats.ids
const print = (id: string, release: Release = 'dev'): string => formatJobId(id, ids(release))

const jobId = fc
  .array(fc.oneof(fc.nat(255), fc.constantFrom(...'"\\:@/x41 \n?'.split('').map((c) => c.charCodeAt(0)))), {
    minLength: 1,
    maxLength: 31,
  })
  .map((codes) => String.fromCharCode(...codes))

describe('a printed job id', () => {
  it.each(['2.15', '2.16', '2.17', 'dev'] as const)(
    'comes back byte for byte, whatever it holds, from %s',
    (release) => {
      fc.assert(
        fc.property(jobId, (id) => {
          // A bare id that begins and ends with quotes is never printed: they are escaped, which quotes the whole.
          expect(parseJobId(print(id, release))).toBe(id)
          expect(print(id, release)).not.toMatch(/[\0-\x1f ]/)
        }),
        { numRuns: 500 },
      )
      for (let byte = 0; byte < 256; byte++) {
        const id = `a${String.fromCharCode(byte)}b`
        expect(parseJobId(print(id, release))).toBe(id)
      }
    },
  )

  it('matches the output of running servers of each release', () => {
    // id: 2.15.8, then 2.16 and later.
    const printed: Record<string, readonly [string, string]> = {
      'dd.500': ['dd.500', 'dd.500'],
      '-rf': ['-rf', '-rf'],
      '.': ['.', '.'],
      'rank 0:1': ['"rank\\x200\\x3A1"', '"rank\\x200:1"'],
      'a:': ['"a\\x3A"', '"a:"'],
      '@at': ['@at', '"@at"'],
      'x@y': ['x@y', 'x@y'],
      'a/b': ['"a\\x2Fb"', 'a/b'],
      'a/b\\c': ['"a\\x2Fb\\x5Cc"', '"a/b\\x5Cc"'],
      'slurm.1_[3-5]': ['"slurm.1_\\x5B3-5\\x5D"', '"slurm.1_\\x5B3-5\\x5D"'],
      '"quoted"': ['"\\x22quoted\\x22"', '"\\x22quoted\\x22"'],
      "it's": ['"it\\x27s"', '"it\\x27s"'],
      'tab\tx': ['"tab\\x09x"', '"tab\\x09x"'],
      'new\nline': ['"new\\x0Aline"', '"new\\x0Aline"'],
      '$(id)': ['"\\x24\\x28id\\x29"', '"\\x24\\x28id\\x29"'],
      '\u00c3\u00a9t\u00c3\u00a9': ['"\u00c3\\xA9t\u00c3\\xA9"', '"\u00c3\\xA9t\u00c3\\xA9"'],
      '\u00ff\u00fe': ['\u00ff\u00fe', '\u00ff\u00fe'],
      '\u00d7\u00f7': ['"\\xD7\\xF7"', '"\\xD7\\xF7"'],
    }
    for (const [id, [old, now]] of Object.entries(printed)) {
      expect(print(id, '2.15')).toBe(old)
      for (const release of ['2.16', '2.17', 'dev'] as const) expect(print(id, release)).toBe(now)
    }
  })

  it('of 2.12 has question marks for unprintable bytes, and never quotes', () => {
    expect(print('a b:"c"\n\x7f\x80\u00a0\u00e9', '2.12')).toBe('a b:"c"???\u00a0\u00e9')
  })

  it('that is badly escaped is read all the same', () => {
    expect(parseJobId('"bad\\xZZ"')).toBe('bad\\xZZ')
    expect(parseJobId('"')).toBe('"')
  })
})

describe('target of a write to job_stats', () => {
  const dev = ids('dev')

  it('is every entry, or the job whose printed form it is, or its bare bytes', () => {
    expect(parseDropName('clear', dev)).toEqual(ok('every entry'))
    expect(parseDropName('"clear"\n', dev)).toEqual(ok('every entry'))
    expect(parseDropName('@at', dev)).toEqual(ok({ jobId: '@at' }))
    expect(parseDropName('"@at"', dev)).toEqual(ok({ jobId: '@at' }))
    expect(parseDropName('"a:"', dev)).toEqual(ok({ jobId: 'a:' }))
    expect(parseDropName('dd.500\n', dev)).toEqual(ok({ jobId: 'dd.500' }))
    expect(parseDropName('clearly', dev)).toEqual(ok({ jobId: 'clearly' }))
    fc.assert(
      fc.property(
        jobId.filter((id) => !id.includes('\0') && id !== 'clear'),
        (id) => {
          expect(parseDropName(print(id), dev)).toEqual(ok({ jobId: id }))
        },
      ),
    )
  })

  it('is EINVAL when it is nothing, too long, or badly escaped', () => {
    const refused = fail('EINVAL')
    for (const bad of [
      '',
      '\n',
      '""',
      '"bad\\xZZ"',
      '"\\"',
      '"a\\x2"',
      '"\\n"',
      `"${'\\x41'.repeat(32)}`,
      'x'.repeat(128),
    ]) {
      expect(parseDropName(bad, dev), bad).toEqual(refused)
    }
    // Maximum length: 31 escaped bytes in quotes.
    expect(parseDropName(`"${'\\x41'.repeat(31)}"`, dev)).toEqual(ok({ jobId: 'A'.repeat(31) }))
    // A server truncates longer ids to 31 bytes.
    expect(parseDropName('y'.repeat(127), dev)).toEqual(ok({ jobId: 'y'.repeat(31) }))
    // One hex digit is enough for the kernel, which skips the byte after it.
    expect(parseDropName('"a\\x4Zb"', dev)).toEqual(ok({ jobId: 'a\u0004b' }))
  })

  it('is always the bare bytes before 2.16', () => {
    const old = ids('2.15')
    expect(parseDropName('rank 0:1', old)).toEqual(ok({ jobId: 'rank 0:1' }))
    expect(parseDropName('"rank\\x200:1"', old)).toEqual(ok({ jobId: '"rank\\x200:1"' }))
    expect(parseDropName('x'.repeat(31), old)).toEqual(ok({ jobId: 'x'.repeat(31) }))
    expect(parseDropName('x'.repeat(32), old)).toEqual(fail('EINVAL'))
  })
})

import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { EmulatedCluster } from '../emulator/cluster.ts'
import { parseScenario } from '../emulator/scenario.ts'
import { parseCommandLine } from '../emulator/shell/command-line.ts'
import { errnoNumber, errnoText } from './errno.ts'
import {
  assignmentResults,
  formatParam,
  getParamCommand,
  readNames,
  setParamCommand,
  setParamsCommand,
  shellQuote,
  splitParams,
} from './lctl.ts'

const wordsOf = (line: string): readonly string[] => {
  const steps = parseCommandLine(line)
  if (!steps.ok) throw new Error(steps.error)
  expect(steps.value).toHaveLength(1)
  return steps.value[0]!.words
}

const nasty = fc.string({
  unit: fc.constantFrom("'", '"', '\\', '$', '`', ' ', '\n', ';', '&', '|', '#', '~', '!', '*', 'a', '-'),
})
const anyText = fc.oneof(fc.string({ unit: anyCharacter }), nasty)

describe('shellQuote', () => {
  it('makes one word of any text for the emulated shell', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1 }), (texts) => {
        expect(wordsOf(texts.map(shellQuote).join(' '))).toEqual(texts)
      }),
      { numRuns: 1000 },
    )
  })

  it('makes one word of any text for a real shell', () => {
    const awkward = [
      '',
      "'",
      "''",
      '"',
      '\\',
      '$(id)',
      '`id`',
      '$HOME',
      'a b',
      '\n',
      ';',
      '-n',
      '#x',
      '~',
      '{a,b}',
      '*',
      '!!',
    ]
    const sampled = fc.sample(anyText, { numRuns: 200, seed: 4690 })
    // A process argument cannot contain NUL, and lone surrogates are not UTF-8.
    const texts = [...awkward, ...sampled].filter((t) => !t.includes('\0') && t.isWellFormed())
    expect(texts.length).toBeGreaterThan(150)
    const script = `printf '%s\\0' ${texts.map(shellQuote).join(' ')}`
    const out = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
    expect(out.split('\0').slice(0, -1)).toEqual(texts)
  })

  it('leaves plain words as people type them', () => {
    expect(shellQuote('ost.OSS.ost_io.nrs_policies')).toBe('ost.OSS.ost_io.nrs_policies')
    expect(shellQuote("it's")).toBe(`'it'\\''s'`)
    expect(shellQuote('')).toBe("''")
  })
})

describe('lctl commands', () => {
  it('reach lctl as they were meant, whatever names and values hold', () => {
    fc.assert(
      fc.property(anyText, anyText, (name, value) => {
        expect(wordsOf(getParamCommand(name, 'version'))).toEqual(['lctl', 'get_param', name, 'version'])
        expect(wordsOf(setParamCommand(name, value))).toEqual(['lctl', 'set_param', `${name}=${value}`])
      }),
      { numRuns: 500 },
    )
  })

  it('equal those that an operator would type', () => {
    expect(getParamCommand('version', 'obdfilter.*.{stats,job_stats}')).toBe(
      "lctl get_param version 'obdfilter.*.{stats,job_stats}'",
    )
    expect(setParamCommand('ost.OSS.ost_io.nrs_tbf_rule', 'reg start a jobid={dd.0} rate=5')).toBe(
      "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start a jobid={dd.0} rate=5'",
    )
  })
})

describe('splitParams', () => {
  it('takes several parameters apart, of one line or many', () => {
    const text =
      'version=2.17.57\nobdfilter.t-OST0000.job_stats=\n' +
      'obdfilter.t-OST0001.job_stats=\njob_stats:\n- job_id:          "a\\x3Db"\n  read: { samples: 1 }\n' +
      'ost.OSS.ost_io.nrs_policies=\n\nregular_requests:\n  - name: fifo\nost.OSS.ost_io.nrs_tbf_rule=\nregular_requests:\n' +
      'a jobid={x=y} 5, ref 0\n'
    expect([...splitParams(text)]).toEqual([
      ['version', '2.17.57'],
      ['obdfilter.t-OST0000.job_stats', ''],
      ['obdfilter.t-OST0001.job_stats', 'job_stats:\n- job_id:          "a\\x3Db"\n  read: { samples: 1 }'],
      ['ost.OSS.ost_io.nrs_policies', '\nregular_requests:\n  - name: fifo'],
      ['ost.OSS.ost_io.nrs_tbf_rule', 'regular_requests:\na jobid={x=y} 5, ref 0'],
    ])
  })

  it('round-trips the output of formatParam, including the last parameter', () => {
    // No line of a value looks like an assignment: on servers they begin with a blank, `- ` or a name and a blank.
    const line = fc.string({ unit: fc.constantFrom('a', ' ', '=', '.', ':', '\u00ff') }).map((s) => ` ${s}`)
    const value = fc.oneof(
      fc.constantFrom('', '1', '2.17.57', 'a=b'),
      fc.array(line, { minLength: 2 }).map((l) => l.join('\n')),
    )
    const params = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z][a-zA-Z0-9_.-]{0,12}$/), value), {
      selector: ([name]) => name,
    })
    fc.assert(
      fc.property(params, (list) => {
        expect([...splitParams(list.map(([n, v]) => formatParam(n, v)).join(''))]).toEqual(list)
      }),
      { numRuns: 300 },
    )
  })

  it('skips text before the first parameter', () => {
    expect([...splitParams('')]).toEqual([])
    expect([...splitParams('Warning: x\nversion=1\n')]).toEqual([['version', '1']])
  })
})

describe('errno', () => {
  it('has the numbers and words of Linux', () => {
    expect([errnoNumber('ENOENT'), errnoText('ENOENT')]).toEqual([2, 'No such file or directory'])
    expect([errnoNumber('EAGAIN'), errnoNumber('ENODEV'), errnoNumber('EINVAL'), errnoNumber('ENAMETOOLONG')]).toEqual([
      11, 19, 22, 36,
    ])
  })
})

describe('readNames', () => {
  it('returns the names of a reading, and of nothing else', () => {
    const names = ['version', 'obdfilter.*.job_stats', 'ldlm.namespaces.{filter,mdt}-*_UUID.pool.{granted,stats}']
    expect(readNames(getParamCommand(...names))).toEqual(names)
    for (const line of [
      'lctl dl',
      'lctl get_param',
      'lctl get_param  x',
      'lctl get_param -n version',
      'lctl get_param x; y',
      "lctl get_param 'x'",
      'lctl set_param x=y',
    ]) {
      expect(readNames(line), line).toBeUndefined()
    }
  })
})

describe('several assignments in one call', () => {
  const NAME = 'ost.OSS.ost_io.nrs_tbf_rule'
  const wrong = 'reg change nosuch rate=3'
  const right = ['reg change b rate=5', 'reg start c jobid={c.x} rate=1']

  it.each(['2.12.9', '2.15.8', '2.16.1', '2.17.0', '2.17.50'])('are told apart in the output of %s', (version) => {
    for (const order of [
      [wrong, ...right],
      [...right, wrong],
      [right[0] ?? '', wrong, right[1] ?? ''],
    ]) {
      const disk = { bandwidth_mb_s: 100, per_op_us: 20, channels: 1 }
      const text = JSON.stringify({
        title: 'One',
        cluster: 'one',
        clients: { count: 1 },
        policy: 'tbf jobid',
        control: { max_rate: 100 },
        oss: [{ name: 'oss01', version, osts: [{ name: 'fs-OST0000', disk }] }],
        jobs: [{ id: 'x.1', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'continuous' } }],
      })
      const scenario = parseScenario(text)
      if (!scenario.ok) throw new Error(scenario.error.why)
      const node = new EmulatedCluster(scenario.value).node('oss01')
      if (!node) throw new Error('no server')
      expect(node.exec(setParamCommand(NAME, 'reg start b jobid={b.x} rate=9'))).toMatchObject({ code: 0 })
      const { results, rest } = assignmentResults(NAME, order, node.exec(setParamsCommand(NAME, order)))
      expect(rest).toEqual([])
      for (const [i, value] of order.entries()) {
        const { isWritten, message } = results[i] ?? {}
        if (value !== wrong) expect([isWritten, message], value).toEqual([true, ''])
        else {
          expect(isWritten).toBe(false)
          expect(message).toMatch(/^error: set_param: setting .*No such file or directory$/)
        }
      }
    }
  })

  it('are all without effect, with the reason, if nothing was executed', () => {
    const ran = { stdout: '', stderr: 'sudo: a password is required\n', code: 1 }
    expect(assignmentResults(NAME, right, ran)).toEqual({
      results: right.map(() => ({ isWritten: false, message: '' })),
      rest: ['sudo: a password is required'],
    })
  })
})

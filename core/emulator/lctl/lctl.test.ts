/** lctl on a node with a few files, by release. Expected output: spec/lustre 7 and measured A, B. */
import { describe, expect, it } from 'vitest'
import { fail, ok } from '../../base/result.ts'
import type { Errno } from '../../lustre/errno.ts'
import { profile } from '../../lustre/profile.ts'
import { RELEASES, type Release } from '../../lustre/release.ts'
import type { ExecResult } from '../exec.ts'
import type { Parameter } from '../parameter.ts'
import { ROOT, type LctlHost } from './host.ts'
import { runLctl } from './run.ts'

type Content = Partial<Parameter> & { value?: string; errno?: Errno; refuses?: Errno; writable?: boolean }

/** Writable file that keeps its value. */
function file(path: string, content: Content = {}): Parameter {
  const { value = '1\n', errno, refuses, writable = true, ...rest } = content
  let stored = value
  const tree = path.startsWith('/proc') ? 'proc' : path.startsWith('/sys/kernel') ? 'debugfs' : 'sysfs'
  return {
    name: path,
    path,
    tree,
    read: () => (errno ? fail(errno) : ok(stored)),
    ...(writable
      ? {
          write: (v: string) => {
            if (refuses) return fail(refuses)
            stored = v
            return ok(undefined)
          },
        }
      : {}),
    ...rest,
  }
}

const SYS = '/sys/fs/lustre'
const DEBUG = '/sys/kernel/debug/lustre'
const LNET = '/sys/kernel/debug/lnet'
const PROC = '/proc/fs/lustre'
const STATS = 'snapshot_time    17.5 secs.nsecs\nread   2 samples [usecs] 5 90 240 9876\n'

const files = (): Parameter[] => [
  file(`${SYS}/version`, { value: '2.17.57\n', writable: false }),
  file(`${SYS}/health_check`, { value: 'healthy\n', writable: false }),
  file(`${SYS}/jobid_var`, { value: 'disable\n', refuses: undefined as never }),
  file(`${SYS}/jobid_name`, { value: '%e.%u\n' }),
  file(`${SYS}/obdfilter/t-OST0001/evict_client`, { mode: 0o200 }),
  file(`${SYS}/obdfilter/t-OST0000/num_exports`, { value: '3\n', writable: false }),
  file(`${SYS}/ost/OSS/ost_io/threads_max`, { refuses: 'ERANGE' }),
  file(`${DEBUG}/ost/OSS/ost_io/nrs_delay_min`, { value: '' }),
  file(`${DEBUG}/ost/OSS/ost_io/nrs_tbf_rule`, { errno: 'ENODEV', refuses: 'EINVAL' }),
  file(`${DEBUG}/ost/OSS/ost_io/timeouts`, { value: 'a\nb\n', writable: false }),
  file(`${DEBUG}/obdfilter/t-OST0000/stats`, { value: STATS, netlink: true }),
  file(`${DEBUG}/obdfilter/t-OST0000/exports/10.0.0.1@tcp/uuid`, { value: 'c1\n', writable: false }),
  file(`${DEBUG}/devices`, { value: '  0 UP mgs MGS MGS 5\n', writable: false }),
  file(`${LNET}/cpu_partition_table`, { value: '0\t: 0 1\n', writable: false }),
  file(`${PROC}/obdfilter/t-OST0000/job_stats`, { value: '' }),
  file(`${PROC}/obdfilter/t-OST0001/job_stats`, { value: 'job_stats:\n- x\n', refuses: 'EIO' }),
  file(`${PROC}/obdfilter/t-OST0001/last_id`, { value: '7\n', writable: false }),
  { ...file('/sys/module/ptlrpc/parameters/tbf_rate', { value: '10000\n' }), tree: 'module' },
  { ...file('/sys/module/ptlrpc/parameters/tbf_depth', { value: '3\n' }), tree: 'module' },
]

function host(release: Release, more: Partial<LctlHost> = {}): LctlHost {
  const parameters = files()
  return { profile: profile(release), version: `${release}.9`, user: ROOT, parameters: () => parameters, ...more }
}

const USER = { name: 'u1000', uid: 1000 }
const run = (h: LctlHost, ...args: string[]): ExecResult => runLctl(h, args)
const out = (h: LctlHost, ...args: string[]): string => run(h, ...args).stdout

describe('names', () => {
  it('may be dotted or slashed, not absolute; the dots of a NID stay', () => {
    const h = host('dev')
    expect(out(h, 'get_param', 'ost/OSS/ost_io/timeouts')).toBe('ost.OSS.ost_io.timeouts=\na\nb\n')
    expect(run(h, 'get_param', '/sys/fs/lustre/version')).toEqual({
      stdout: '',
      stderr: "error: get_param: param_path '/sys/fs/lustre/version': No such file or directory\n",
      code: 2,
    })
    const uuid = 'obdfilter.t-OST0000.exports.10.0.0.1@tcp.uuid'
    expect(out(h, 'get_param', uuid)).toBe(`${uuid}=c1\n`)
    expect(out(h, 'get_param', 'obdfilter.*.exports.*.uuid')).toBe(`${uuid}=c1\n`)
    expect(out(h, 'get_param', 'obdfilter.t-OST0000.exports.10.0.0.*@tcp.uuid')).toBe(`${uuid}=c1\n`)
    expect(out(h, 'get_param', 'jobid\\_var')).toBe('jobid_var=disable\n')
  })

  it('are looked up in the trees in the order of the release, within one by brace alternative, then by path', () => {
    const names = (release: Release, glob: string): string[] =>
      out(host(release), 'list_param', glob).trimEnd().split('\n')
    expect(names('dev', 'obdfilter.*.{stats,job_stats,num*}')).toEqual([
      'obdfilter.t-OST0000.job_stats',
      'obdfilter.t-OST0001.job_stats',
      'obdfilter.t-OST0000.num_exports',
      'obdfilter.t-OST0000.stats',
    ])
    expect(names('2.15', 'obdfilter.*.{job_stats,last_id,stats,num*}')).toEqual([
      'obdfilter.t-OST0000.num_exports',
      'obdfilter.t-OST0000.stats',
      'obdfilter.t-OST0000.job_stats',
      'obdfilter.t-OST0001.job_stats',
      'obdfilter.t-OST0001.last_id',
    ])
    expect(names('2.17', '{version,cpu*,devices,*name}')).toEqual([
      'version',
      'jobid_name',
      'cpu_partition_table',
      'devices',
    ])
  })
})

describe('get_param', () => {
  it('prints values with their names, without, or names alone', () => {
    const h = host('dev')
    expect(out(h, 'get_param', 'version', 'health_check')).toBe('version=2.17.57\nhealth_check=healthy\n')
    expect(out(h, 'get_param', '-n', 'version', 'ost.OSS.ost_io.timeouts')).toBe('2.17.57\na\nb\n')
    expect(out(h, 'get_param', 'version', '-n')).toBe('2.17.57\n')
    expect(out(h, 'get_param', '-N', 'version')).toBe('version\n')
    expect(out(h, 'get_param', '-NF', 'j*')).toBe('jobid_name=\njobid_var=\n')
    expect(out(h, 'get_param', '--only-name', 'version')).toBe('version\n')
    expect(out(h, 'get_param', '--only-n', 'version')).toBe('version\n')
    expect(out(h, 'get_param', '-p', 'version')).toBe(`${SYS}/version=2.17.57\n`)
    expect(out(h, 'get_param', '-y', 'devices')).toBe('devices:   0 UP mgs MGS MGS 5\n')
    expect(out(h, 'get_param', '-H', 'ost.OSS.ost_io.timeouts', 'version')).toBe(
      'ost.OSS.ost_io.timeouts=a\nost.OSS.ost_io.timeouts=b\nversion=2.17.57\n',
    )
  })

  it('prints an empty value as a bare name since 2.16, and not at all before', () => {
    for (const release of RELEASES) {
      const printed = out(host(release), 'get_param', 'ost.OSS.ost_io.nrs_delay_min')
      expect(printed, release).toBe(['2.12', '2.15'].includes(release) ? '' : 'ost.OSS.ost_io.nrs_delay_min=\n')
      expect(out(host(release), 'get_param', '-n', 'ost.OSS.ost_io.nrs_delay_min'), release).toBe('')
    }
  })

  it('breaks long lines up to 2.16: from 80 columns, counting the newline', () => {
    const name = 'ldlm.lock_limit_mb'
    const printed = (release: Release, length: number): string => {
      const value = 'x'.repeat(length - name.length)
      const parameters = [file(`${SYS}/ldlm/lock_limit_mb`, { value: `${value}\n` })]
      return out(host(release, { parameters: () => parameters }), 'get_param', name)
    }
    for (const release of RELEASES) {
      const hasLimit = ['2.12', '2.15', '2.16'].includes(release)
      expect(printed(release, 78), release).toMatch(/^ldlm\.lock_limit_mb=x{60}\n$/)
      expect(printed(release, 79).startsWith(`${name}=\n`), release).toBe(hasLimit)
    }
  })

  it('says nothing of a directory, and goes into it with -R, once per tree it lies in', () => {
    const h = host('dev')
    expect(run(h, 'get_param', 'ost.OSS.ost_io')).toEqual({ stdout: '', stderr: '', code: 0 })
    const refused = `error: read_param: '${DEBUG}/ost/OSS/ost_io/nrs_tbf_rule': No such device\n`
    const once = 'ost.OSS.ost_io.threads_max=1\n'
    const delay = 'ost.OSS.ost_io.nrs_delay_min=\n'
    const timeouts = 'ost.OSS.ost_io.timeouts=\na\nb\n'
    expect(run(h, 'get_param', '-R', 'ost.OSS.ost_io')).toEqual({
      stdout: once + once + delay + delay + timeouts + timeouts,
      stderr: refused + refused,
      code: 0,
    })
    expect(run(host('2.15'), 'get_param', '-R', 'ost.OSS.ost_io').stdout).toBe(once + timeouts + once + timeouts)
    expect(run(h, 'get_param', '-R', 'no.such')).toEqual({ stdout: '', stderr: '', code: 2 })
  })

  it('ends with the first failing argument; within one, with the last file', () => {
    const h = host('dev')
    const missing = "error: get_param: param_path 'foo/bar': No such file or directory\n"
    expect(run(h, 'get_param', 'foo.bar', 'version')).toEqual({
      stdout: 'version=2.17.57\n',
      stderr: missing,
      code: 2,
    })
    expect(run(h, 'get_param', 'ost.OSS.ost_io.nrs_tbf_rule', 'foo.bar').code).toBe(19)
    // The rule file is unreadable, the one after it is readable.
    expect(run(h, 'get_param', 'ost.OSS.ost_io.{nrs_tbf_rule,timeouts}').code).toBe(0)
    expect(run(h, 'get_param', 'ost.OSS.ost_io.{timeouts,nrs_tbf_rule}').code).toBe(19)
    expect(run(h, 'get_param', '-N', 'obdfilter.*.{evict_client,num_exports}')).toEqual({
      stdout: 'obdfilter.t-OST0000.num_exports\n',
      stderr: `error: read_param: '${SYS}/obdfilter/t-OST0001/evict_client': Permission denied\n`,
      code: 0,
    })
    expect(out(host('2.15'), 'get_param', '-N', 'obdfilter.t-OST0001.*')).toBe(
      'obdfilter.t-OST0001.evict_client\nobdfilter.t-OST0001.job_stats\nobdfilter.t-OST0001.last_id\n',
    )
  })

  it('filters by what may be read, written or set', () => {
    const h = host('dev')
    const names = (letter: string): string => out(h, 'list_param', letter, 'obdfilter.*.*', 'version').trimEnd()
    expect(names('-r')).not.toContain('evict_client')
    expect(names('-w')).toContain('evict_client')
    expect(names('-w')).not.toContain('version')
    expect(names('-t')).not.toContain('stats')
    expect(names('-t')).not.toContain('t-OST0000.exports')
    expect(names('-D')).toBe('obdfilter.t-OST0000.exports')
  })

  it('looks at module parameters with -o, which only the development line knows', () => {
    expect(out(host('dev'), 'get_param', '-o', 'tbf_*')).toBe('tbf_depth=3\ntbf_rate=10000\n')
    expect(run(host('dev'), 'get_param', 'tbf_rate').code).toBe(2)
    expect(run(host('2.17'), 'get_param', '-o', 'tbf_*')).toMatchObject({
      code: 4,
      stderr: "get_param: invalid option -- 'o'\n",
      stdout: expect.stringContaining('usage: get_param [--dshbak|-b]') as string,
    })
  })

  it('refuses by name options without a recorded answer', () => {
    for (const option of ['-b', '-calways']) {
      const r = run(host('dev'), 'get_param', option, 'version')
      expect(r, option).toMatchObject({ stdout: '', code: 1 })
      expect(r.stderr).toContain('not known to this emulated node')
    }
    expect(out(host('dev'), 'get_param', '-c', 'never', 'version')).toBe('version=2.17.57\n')
  })
})

describe('options and usage', () => {
  it('end with 4, on stdout since 2.16 and on stderr before; set_param complains of none', () => {
    for (const release of RELEASES) {
      const isOld = ['2.12', '2.15'].includes(release)
      for (const command of ['get_param', 'set_param', 'list_param']) {
        const none = run(host(release), command)
        expect(none.code, `${release} ${command}`).toBe(4)
        expect(isOld ? none.stdout : none.stderr, `${release} ${command}`).toBe('')
        expect(isOld ? none.stderr : none.stdout).toContain(`usage: ${command} `)
        const wrong = run(host(release), command, '-Z', 'version')
        const complaint = command === 'set_param' ? '' : `${command}: invalid option -- 'Z'\n`
        expect(wrong.stderr.startsWith(complaint), `${release} ${command}`).toBe(true)
        expect(wrong.code).toBe(4)
        if (command === 'set_param') expect(wrong.stderr).not.toContain('invalid')
      }
    }
  })

  it('are those of the release', () => {
    for (const option of ['-H', '-y', '-p', '--only-name', '-L']) {
      expect(run(host('2.15'), 'get_param', option, 'version').code, option).toBe(4)
      expect(run(host('2.17'), 'get_param', option, 'version').code, option).toBe(0)
    }
    expect(run(host('dev'), 'get_param', '--no', 'version').stderr).toBe("get_param: option '--no' is ambiguous\n")
    expect(run(host('dev'), 'get_param', '--nosuch', 'x').stderr).toBe("get_param: unrecognized option '--nosuch'\n")
    expect(run(host('dev'), 'get_param', '--path=x', 'y').stderr).toContain("doesn't allow an argument")
    expect(run(host('dev'), 'get_param', '-c').stderr).toContain("requires an argument -- 'c'")
    expect(run(host('dev'), 'get_param', '--', '-n').stderr).toContain("param_path '-n'")
  })
})

describe('set_param', () => {
  it('echoes each file it has written, and nothing under -n; backslashes leave the name only', () => {
    const h = host('dev')
    expect(run(h, 'set_param', 'jobid\\_var=a\\b {c}=d')).toEqual({
      stdout: 'jobid_var=a\\b {c}=d\n',
      stderr: '',
      code: 0,
    })
    expect(out(h, 'get_param', 'jobid_var')).toBe('jobid_var=a\\b {c}=d\n')
    expect(out(h, 'set_param', '-n', 'jobid_var=x')).toBe('')
    expect(out(h, 'set_param', 'jobid_{var,name}', 'y z')).toBe('jobid_var=y z\njobid_name=y z\n')
  })

  it('repeats a failure in a second line since 2.16', () => {
    const first = `error: set_param: setting ${DEBUG}/ost/OSS/ost_io/nrs_tbf_rule=x y: Invalid argument\n`
    const second = "error: set_param: setting 'ost/OSS/ost_io/nrs_tbf_rule'='x y': Invalid argument\n"
    for (const release of RELEASES) {
      const isOld = ['2.12', '2.15'].includes(release)
      expect(run(host(release), 'set_param', 'ost.OSS.ost_io.nrs_tbf_rule=x y'), release).toEqual({
        stdout: '',
        stderr: isOld ? first : first + second,
        code: 22,
      })
      expect(run(host(release), 'set_param', 'no.such=1').stderr, release).toBe(
        "error: set_param: param_path 'no/such': No such file or directory\n" +
          (isOld ? '' : "error: set_param: setting 'no/such'='1': No such file or directory\n"),
      )
    }
  })

  it('takes the exit code of the last assignment since 2.16, of the first failure before', () => {
    for (const release of RELEASES) {
      const isOld = ['2.12', '2.15'].includes(release)
      const r = run(host(release), 'set_param', 'jobid_var=a', 'no.such=1', 'jobid_name=b')
      expect(r.stdout, release).toBe('jobid_var=a\njobid_name=b\n')
      expect(r.code, release).toBe(isOld ? 2 : 0)
      expect(run(host(release), 'set_param', 'no.such=1', 'ost.OSS.ost_io.threads_max=1').code, release).toBe(
        isOld ? 2 : 34,
      )
    }
  })

  it('takes the next argument for the value of a name without one, whatever was meant', () => {
    const h = host('dev')
    expect(run(h, 'set_param', 'jobid_var=a', 'jobid_name', 'jobid_var=b')).toEqual({
      stdout: 'jobid_var=a\njobid_name=jobid_var=b\n',
      stderr: '',
      code: 0,
    })
    for (const release of RELEASES) {
      const message = ['2.12', '2.15'].includes(release) ? 'no value' : 'Invalid argument'
      for (const last of ['jobid_var', 'jobid_var=']) {
        const r = run(host(release), 'set_param', 'jobid_name=a', last)
        expect(r, `${release} ${last}`).toEqual({
          stdout: 'jobid_name=a\n',
          stderr: `error: set_param: setting jobid_var: ${message}\n`,
          code: 22,
        })
      }
      const dotted = run(host(release), 'set_param', 'ost.OSS.ost_io.threads_max=', 'jobid_var=z')
      expect(dotted.stderr, release).toBe(`error: set_param: setting ost.OSS.ost_io.threads_max: ${message}\n`)
      expect(dotted.stdout, release).toBe('')
    }
  })

  it('writes to all files of a glob; the first failure counts', () => {
    expect(run(host('dev'), 'set_param', 'ost.OSS.ost_io.{threads_max,nrs_tbf_rule,nrs_delay_min}=9')).toEqual({
      stdout: 'ost.OSS.ost_io.nrs_delay_min=9\n',
      stderr:
        `error: set_param: setting ${SYS}/ost/OSS/ost_io/threads_max=9: Numerical result out of range\n` +
        `error: set_param: setting ${DEBUG}/ost/OSS/ost_io/nrs_tbf_rule=9: Invalid argument\n` +
        "error: set_param: setting 'ost/OSS/ost_io/{threads_max,nrs_tbf_rule,nrs_delay_min}'='9': " +
        'Numerical result out of range\n',
      code: 34,
    })
  })

  it('cannot open a read-only file of sysfs, and says nothing of an I/O error in the first line', () => {
    const h = host('dev')
    expect(run(h, 'set_param', 'version=1')).toEqual({
      stdout: '',
      stderr:
        `error: set_param: opening '${SYS}/version': Permission denied\n` +
        "error: set_param: setting 'version'='1': Permission denied\n",
      code: 13,
    })
    const io = "error: set_param: setting 'obdfilter/t-OST0001/job_stats'='x': Input/output error\n"
    expect(run(h, 'set_param', 'obdfilter.t-OST0001.job_stats=x')).toEqual({ stdout: '', stderr: io, code: 5 })
    expect(run(host('2.15'), 'set_param', 'obdfilter.t-OST0001.job_stats=x')).toEqual({
      stdout: '',
      stderr: '',
      code: 5,
    })
    expect(run(h, 'set_param', 'obdfilter.t-OST0001.last_id=x').code).toBe(5)
    expect(run(h, 'set_param', 'ost.OSS.ost_io.timeouts=x').code).toBe(22)
  })

  it('prints the number of an error without a text, and exits with its low byte', () => {
    const parameters = [file(`${DEBUG}/x`, { refuses: 'ENOTSUPP' })]
    expect(run(host('2.15', { parameters: () => parameters }), 'set_param', 'x=tbf abc')).toEqual({
      stdout: '',
      stderr: `error: set_param: setting ${DEBUG}/x=tbf abc: Unknown error 524\n`,
      code: 12,
    })
  })

  it('stores permanent values unchecked where the MGS is, and nowhere else', () => {
    const stored = new Map<string, string>()
    const paramsLog = {
      set: (name: string, value: string) => void stored.set(name, value),
      configure: (name: string, value: string) => void stored.set(name, value),
      delete: (name: string) => void stored.delete(name),
      records: () => [...stored].map(([name, value], i) => ({ index: i + 2, name, value })),
    }
    const mgs = host('dev', { paramsLog })
    const rule = 'ost.OSS.ost_io.nrs_tbf_rule'
    expect(run(mgs, 'set_param', '-P', `${rule}=start a nonsense`)).toEqual({ stdout: '', stderr: '', code: 0 })
    expect(out(mgs, '--device', 'MGS', 'llog_print', 'params')).toBe(
      `- { index: 2, event: set_param, device: general, parameter: ${rule}, value: start a nonsense }\n`,
    )
    expect(run(mgs, 'set_param', '-P', '-d', rule)).toEqual({ stdout: '', stderr: '', code: 0 })
    expect(out(mgs, '--device', 'MGS', 'llog_print', 'params')).toBe('')
    expect(run(mgs, 'conf_param', 't.sys.jobid_var=x')).toEqual({ stdout: '', stderr: '', code: 0 })
    expect([...stored]).toEqual([['jobid_var', 'x']])
    expect(run(host('dev'), 'set_param', '-P', 'jobid_var=x')).toMatchObject({
      code: 19,
      stderr: expect.stringContaining('must be run on the MGS') as string,
    })
  })

  it('accepts a file and threads silently', () => {
    expect(run(host('dev'), 'set_param', '-F', '/x.yaml')).toEqual({ stdout: '', stderr: '', code: 0 })
    expect(out(host('dev'), 'set_param', '-t4', 'jobid_var=x')).toBe('jobid_var=x\n')
    expect(run(host('dev'), 'set_param', '-C', '-P', 'x=1').code).toBe(4)
  })
})

describe('list_param', () => {
  it('lists names once, with the signs of -F', () => {
    const h = host('dev')
    expect(out(h, 'list_param', 'ost.OSS.*')).toBe('ost.OSS.ost_io\n')
    expect(out(h, 'list_param', '-F', '{version,ost,jobid_var}')).toBe('version\nost/\njobid_var=\n')
    expect(out(h, 'list_param', '-F', 'jobid_var=', 'ost/')).toBe('jobid_var=\nost/\n')
  })

  it('lists what is below a directory: all names of one level first since 2.16, each where it stands before', () => {
    const modern = [
      'obdfilter.t-OST0000/',
      'obdfilter.t-OST0001/',
      'obdfilter.t-OST0000.job_stats=',
      'obdfilter.t-OST0000.num_exports',
      'obdfilter.t-OST0000.exports/',
      'obdfilter.t-OST0000.stats=',
      'obdfilter.t-OST0000.exports.10.0.0.1@tcp/',
      'obdfilter.t-OST0000.exports.10.0.0.1@tcp.uuid',
      'obdfilter.t-OST0001.job_stats=',
      'obdfilter.t-OST0001.last_id',
      'obdfilter.t-OST0001.evict_client=',
    ]
    expect(out(host('dev'), 'list_param', '-RF', 'obdfilter.*').trimEnd().split('\n')).toEqual(modern)
    expect(out(host('2.15'), 'list_param', '-RF', 'obdfilter.*').trimEnd().split('\n')).toEqual([
      'obdfilter.t-OST0000/',
      'obdfilter.t-OST0000.num_exports',
      'obdfilter.t-OST0000.exports/',
      'obdfilter.t-OST0000.exports.10.0.0.1@tcp/',
      'obdfilter.t-OST0000.exports.10.0.0.1@tcp.uuid',
      'obdfilter.t-OST0000.stats=',
      'obdfilter.t-OST0000.job_stats=',
      'obdfilter.t-OST0001/',
      'obdfilter.t-OST0001.evict_client=',
      'obdfilter.t-OST0001.job_stats=',
      'obdfilter.t-OST0001.last_id',
    ])
  })

  it('reports an unknown name twice', () => {
    expect(run(host('2.15'), 'list_param', 'nosuch.param', 'version')).toEqual({
      stdout: 'version\n',
      stderr:
        "error: list_param: param_path 'nosuch/param': No such file or directory\n" +
        "error: list_param: listing 'nosuch/param': No such file or directory\n",
      code: 2,
    })
  })
})

describe('a user who is not root', () => {
  const as = (release: Release): LctlHost => host(release, { user: USER })

  it('reads sysfs and /proc, and writes nothing', () => {
    expect(out(as('dev'), 'get_param', 'version', 'obdfilter.*.job_stats')).toContain('version=2.17.57\n')
    expect(run(as('dev'), 'set_param', 'jobid_var=x')).toEqual({
      stdout: '',
      stderr:
        `error: set_param: opening '${SYS}/jobid_var': Permission denied\n` +
        "error: set_param: setting 'jobid_var'='x': Permission denied\n",
      code: 13,
    })
    expect(run(as('2.15'), 'set_param', 'jobid_var=x').stderr).toBe(
      `error: set_param: opening '${SYS}/jobid_var': Permission denied\n`,
    )
  })

  it('gets an error about debugfs up to 2.15, and none since', () => {
    const rule = 'ost.OSS.ost_io.nrs_tbf_rule'
    const path = 'ost/OSS/ost_io/nrs_tbf_rule'
    expect(run(as('2.15'), 'get_param', rule)).toEqual({
      stdout: '',
      stderr: `error: get_param: param_path '${path}': No such file or directory\n`,
      code: 2,
    })
    expect(run(as('dev'), 'get_param', rule)).toEqual({ stdout: '', stderr: '', code: 2 })
    expect(run(as('dev'), 'set_param', `${rule}=x`)).toEqual({
      stdout: '',
      stderr: `error: set_param: setting '${path}'='x': No such file or directory\n`,
      code: 2,
    })
    expect(run(as('dev'), 'list_param', 'ost.OSS.*.nrs_tbf_rule')).toEqual({
      stdout: '',
      stderr: "error: list_param: listing 'ost.OSS.*.nrs_tbf_rule': Operation not supported\n",
      code: 2,
    })
  })

  it('gets tables over netlink, spoilt: the last character of every counter is lost, and the command fails', () => {
    expect(run(as('dev'), 'get_param', 'obdfilter.*.stats')).toEqual({
      stdout: 'obdfilter.t-OST0000.stats=\nsnapshot_time    17.5 secs.nsecs\nread   2 samples [usecs] 5 90 240 987\n',
      stderr: '',
      code: 2,
    })
    expect(out(as('dev'), 'get_param', '-n', 'obdfilter.*.stats')).not.toContain('obdfilter')
    expect(run(as('2.15'), 'get_param', 'obdfilter.*.stats').stdout).toBe('')
  })

  it('sees a start in the time since boot for elapsed_time on 2.17.0', () => {
    const value =
      'snapshot_time             1795219718.638919811 secs.nsecs\n' +
      'start_time                1795219692.269877335 secs.nsecs\n' +
      'elapsed_time              26.369042476 secs.nsecs\n'
    const parameters = [file(`${DEBUG}/obdfilter/t-OST0000/stats`, { value, netlink: true })]
    const at = (release: Release): string =>
      out({ ...as(release), parameters: () => parameters, bootSeconds: 1795219605 }, 'get_param', 'obdfilter.*.stats')
    expect(at('2.17')).toContain('elapsed_time              1795219631.369042476 secs.nsecs\n')
    expect(at('dev')).toContain('elapsed_time              26.369042476 secs.nsecs\n')
  })
})

describe('devices and the rest of the tool', () => {
  const devices = [
    { status: 'UP', type: 'mgs', name: 'MGS', uuid: 'MGS', refs: 5 },
    { status: 'UP', type: 'osc', name: 'o', uuid: 'u', refs: 4, peer: '0@lo' },
  ] as const
  const table = '  0 UP mgs MGS MGS 5\n  1 UP osc o u 4\n'

  it('lists devices; -t appends the server of a client device', () => {
    const h = host('dev', { devices: () => devices })
    expect(out(h, 'dl')).toBe(table)
    expect(out(h, 'device_list', '-t')).toBe('  0 UP mgs MGS MGS 5\n  1 UP osc o u 4 0@lo\n')
    expect(run({ ...h, user: USER }, 'dl')).toEqual({ stdout: table, stderr: '', code: 0 })
    expect(run(host('2.15', { devices: () => devices, user: USER }), 'dl')).toEqual({
      stdout: '',
      stderr:
        'opening /dev/obd failed: Permission denied\nhint: the kernel modules may not be loaded\n' +
        'Error getting device list: Permission denied: check dmesg\n',
      code: 13,
    })
  })

  it('finds nothing at all without the modules, but its own version', () => {
    const none = { isLoaded: () => false }
    for (const release of RELEASES) {
      expect(run(host(release, none), 'get_param', 'version')).toEqual({
        stdout: '',
        stderr: "error: get_param: param_path 'version': No such file or directory\n",
        code: 2,
      })
      expect(out(host(release, none), '--version')).toBe(`lctl ${release}.9\n`)
    }
    expect(run(host('dev', none), 'dl')).toEqual({
      stdout: '',
      stderr: 'Writer error: failed to resolve Netlink family id\n',
      code: 2,
    })
    expect(run(host('2.15', none), 'dl')).toMatchObject({
      stdout: '',
      code: 0,
      stderr: expect.stringContaining('opening /dev/obd failed: No such file or directory\n') as string,
    })
  })

  it('answers to versions, NIDs, help, and to what it does not know', () => {
    const h = host('dev', { nids: ['10.0.2.15@tcp'] })
    expect(out(h, 'version')).toBe('lctl dev.9\n')
    expect(run(host('2.15'), 'version')).toMatchObject({ code: 1, stderr: '' })
    expect(out(h, 'list_nids')).toBe('10.0.2.15@tcp\n')
    expect(out(h, 'which_nid', '10.0.2.15@tcp')).toBe('10.0.2.15@tcp\n')
    expect(out(h, 'help')).toContain('Try ')
    expect(run(h)).toEqual({ stdout: '', stderr: '', code: 0 })
    expect(run(h, 'nosuch', 'a=b')).toEqual({
      stdout: '',
      stderr: "lctl: 'nosuch' is not a valid command. See 'lctl --list-commands'.\n",
      code: 1,
    })
    const old = run(host('2.15'), 'nosuch')
    expect(old).toMatchObject({ stderr: '', code: 1 })
    expect(old.stdout).toMatch(/^Try interactive use without arguments or use one of:\n"[^]*"\nas argument\.\n$/)
    expect(run(h, 'dk', '/nosuchdir/x')).toEqual({
      stdout: '',
      stderr: 'fopen(/nosuchdir/x) failed: No such file or directory\n',
      code: 1,
    })
    expect(run(h, 'lfsck_start').stderr).toBe('lctl lfsck_start: is not played by this emulated node\n')
  })
})

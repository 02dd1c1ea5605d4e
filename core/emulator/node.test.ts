import { describe, expect, it } from 'vitest'
import { shellQuote } from '../lustre/lctl.ts'
import { EmulatedCluster } from './cluster.ts'
import type { EmulatedNode } from './node.ts'
import { parseScenario } from './scenario.ts'

const text = `title: Shell
epoch_s: 1763676476
clients: { count: 3 }
oss:
  - name: oss01
    version: 2.17.57
    cpts: 2
    osts:
      - { name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }
      - { name: t-OST0001, disk: { bandwidth_mb_s: 1000 } }
control: { max_rate: 100 }
jobs:
  - id: 4690.train.py.u1021
    user: tkovac
    account: ml
    clients: [1, 2, 2]
    op: write
    size_kib: 64
    total_rpcs: 40
    targets: [t-OST0000]
    pattern: { kind: continuous }
  - id: "rank 0:1"
    user: root
    clients: [3]
    in_slurm: false
    op: read
    size_kib: 4
    stop_s: 0.01
    pattern: { kind: continuous }
  - id: 4711.late.u1
    user: aosei
    account: aero
    clients: [1, 3]
    op: read
    size_kib: 4
    start_s: 5
    stop_s: 9
    pattern: { kind: continuous }
`

function cluster(): { cluster: EmulatedCluster; oss: EmulatedNode; scheduler: EmulatedNode } {
  const scenario = parseScenario(text)
  if (!scenario.ok) throw new Error(scenario.error.why)
  const c = new EmulatedCluster(scenario.value)
  return { cluster: c, oss: c.node('oss01')!, scheduler: c.node('sched01')! }
}

const TBF = 'ost.OSS.ost_io.nrs_tbf_rule'
const FILE = '/sys/kernel/debug/lustre/ost/OSS/ost_io/nrs_tbf_rule'

describe('the shell of a node', () => {
  it('runs steps by the exit code before them and ends with that of the last', () => {
    const { oss } = cluster()
    expect(oss.exec('hostname')).toEqual({ stdout: 'oss01\n', stderr: '', code: 0 })
    expect(oss.exec('nosuch -x')).toEqual({
      stdout: '',
      stderr: 'bash: line 1: nosuch: command not found\n',
      code: 127,
    })
    expect(oss.exec('nosuch; hostname').code).toBe(0)
    expect(oss.exec('nosuch && hostname')).toMatchObject({ stdout: '', code: 127 })
    expect(oss.exec('nosuch || hostname')).toMatchObject({ stdout: 'oss01\n', code: 0 })
    expect(oss.exec('true || nosuch')).toMatchObject({ stderr: '', code: 0 })
  })

  it('does not take names that every object has for programs', () => {
    const { oss } = cluster()
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) expect(oss.exec(name).code).toBe(127)
    expect(oss.exec('systemd-run --unit=x --on-active=1 toString').code).toBe(1)
  })

  it('runs sh -c with one quoted word, also within another', () => {
    const { oss } = cluster()
    expect(oss.exec(`sh -c ${shellQuote('hostname; nosuch')}`)).toMatchObject({ stdout: 'oss01\n', code: 127 })
    expect(oss.exec(`sh -c ${shellQuote(`sh -c ${shellQuote('hostname && hostname')}`)}`).stdout).toBe('oss01\noss01\n')
    expect(oss.exec('sh -c hostname x').code).toBe(2)
  })

  it('names what it does not support', () => {
    const { oss } = cluster()
    expect(oss.exec('hostname & cat')).toEqual({
      stdout: '',
      stderr: 'bash: line 1: Syntax error: "&" is not supported by this emulated shell\n',
      code: 2,
    })
    expect(oss.exec('')).toEqual({ stdout: '', stderr: '', code: 0 })
  })
})

describe('lctl on an OSS', () => {
  it('reads parameters with their names, without, or the names alone', () => {
    const { oss } = cluster()
    expect(oss.exec('lctl get_param version').stdout).toBe('version=2.17.57\n')
    expect(oss.exec('lctl get_param -n version health_check').stdout).toBe('2.17.57\nhealthy\n')
    expect(oss.exec("lctl get_param -N 'obdfilter.*.job_stats'").stdout).toBe(
      'obdfilter.t-OST0000.job_stats\nobdfilter.t-OST0001.job_stats\n',
    )
    expect(oss.exec('lctl list_param ost.OSS.ost_io.nrs_policies').stdout).toBe('ost.OSS.ost_io.nrs_policies\n')
    expect(oss.exec('lctl get_param cpu_partition_table').stdout).toBe('cpu_partition_table=\n0\t: 0\n1\t: 1\n')
    expect(oss.exec('lctl --version')).toEqual({ stdout: 'lctl 2.17.57\n', stderr: '', code: 0 })
  })

  it('prints an empty job_stats as a bare name, and as nothing under -n', () => {
    const { oss } = cluster()
    expect(oss.exec('lctl get_param obdfilter.t-OST0000.job_stats').stdout).toBe('obdfilter.t-OST0000.job_stats=\n')
    expect(oss.exec('lctl get_param -n obdfilter.t-OST0000.job_stats').stdout).toBe('')
  })

  it('has braces and globs of its own, arguments in order, trees in order within a glob', () => {
    const { oss } = cluster()
    const names = (command: string): string[] => oss.exec(command).stdout.match(/^[\w.-]+(?==)/gm) ?? []
    expect(names("lctl get_param version 'obdfilter.t-OST000{1,0}.job_stats'")).toEqual([
      'version',
      'obdfilter.t-OST0001.job_stats',
      'obdfilter.t-OST0000.job_stats',
    ])
    expect(names("lctl get_param '{ost.OSS.ost_io.nrs_policies,version,obdfilter.*1.job_stats}'")).toEqual([
      'obdfilter.t-OST0001.job_stats',
      'version',
      'ost.OSS.ost_io.nrs_policies',
    ])
  })

  it('fails reads in the words of the tool; of several arguments the first failure counts', () => {
    const { oss } = cluster()
    const missing = "error: get_param: param_path 'foo/bar': No such file or directory\n"
    expect(oss.exec('lctl get_param foo.bar')).toEqual({ stdout: '', stderr: missing, code: 2 })
    expect(oss.exec('lctl get_param foo.bar version')).toEqual({
      stdout: 'version=2.17.57\n',
      stderr: missing,
      code: 2,
    })
    expect(oss.exec('lctl get_param "ost.OSS.zz*"')).toMatchObject({
      stderr: "error: get_param: param_path 'ost/OSS/zz*': No such file or directory\n",
      code: 2,
    })
    oss.exec('lctl set_param ost.OSS.ost_io.nrs_policies=fifo')
    expect(oss.exec(`lctl get_param ${TBF}`)).toEqual({
      stdout: '',
      stderr: `error: read_param: '${FILE}': No such device\n`,
      code: 19,
    })
    expect(oss.exec(`lctl get_param ${TBF} foo.bar`).code).toBe(19)
    expect(oss.exec('lctl get_param')).toMatchObject({ stderr: '', code: 4 })
    expect(oss.exec('lctl list_param nosuch.param')).toEqual({
      stdout: '',
      stderr:
        "error: list_param: param_path 'nosuch/param': No such file or directory\n" +
        "error: list_param: listing 'nosuch/param': No such file or directory\n",
      code: 2,
    })
    expect(oss.exec('lctl nosuch')).toEqual({
      stdout: '',
      stderr: "lctl: 'nosuch' is not a valid command. See 'lctl --list-commands'.\n",
      code: 1,
    })
  })

  it('echoes what it has written, in one argument or two, and nothing under -n', () => {
    const { oss } = cluster()
    const start = `${TBF}=start a jobid={dd.0} rate=5`
    expect(oss.exec(`lctl set_param '${start}'`)).toEqual({ stdout: `${start}\n`, stderr: '', code: 0 })
    expect(oss.exec(`lctl set_param ${TBF} 'change a rate=7'`).stdout).toBe(`${TBF}=change a rate=7\n`)
    expect(oss.exec(`lctl set_param -n ${TBF}='stop a'`)).toEqual({ stdout: '', stderr: '', code: 0 })
  })

  it('fails writes in two lines, the second with the name as it was asked for', () => {
    const { oss } = cluster()
    expect(oss.exec(`lctl set_param ${TBF}="start a {0@lo} 100"`)).toEqual({
      stdout: '',
      stderr:
        `error: set_param: setting ${FILE}=start a {0@lo} 100: Invalid argument\n` +
        "error: set_param: setting 'ost/OSS/ost_io/nrs_tbf_rule'='start a {0@lo} 100': Invalid argument\n",
      code: 22,
    })
    expect(oss.exec('lctl set_param no.such=1')).toEqual({
      stdout: '',
      stderr:
        "error: set_param: param_path 'no/such': No such file or directory\n" +
        "error: set_param: setting 'no/such'='1': No such file or directory\n",
      code: 2,
    })
    expect(oss.exec('lctl set_param version=1')).toEqual({
      stdout: '',
      stderr:
        "error: set_param: opening '/sys/fs/lustre/version': Permission denied\n" +
        "error: set_param: setting 'version'='1': Permission denied\n",
      code: 13,
    })
    expect(oss.exec("lctl set_param 'obdfilter.*.job_stats=nobody'")).toEqual({
      stdout: '',
      stderr:
        'error: set_param: setting /proc/fs/lustre/obdfilter/t-OST0000/job_stats=nobody: Invalid argument\n' +
        'error: set_param: setting /proc/fs/lustre/obdfilter/t-OST0001/job_stats=nobody: Invalid argument\n' +
        "error: set_param: setting 'obdfilter/*/job_stats'='nobody': Invalid argument\n",
      code: 22,
    })
    for (const command of ['lctl set_param jobid_var=', 'lctl set_param jobid_var']) {
      expect(oss.exec(command)).toEqual({
        stdout: '',
        stderr: 'error: set_param: setting jobid_var: Invalid argument\n',
        code: 22,
      })
    }
  })

  it('ends with the result of the last assignment, whatever went wrong before it', () => {
    const { oss } = cluster()
    const start = (name: string): string => `${TBF}='start ${name} jobid={a} rate=5'`
    expect(oss.exec(`lctl set_param ${start('m1')} ${start('m1')} ${start('m2')}`)).toMatchObject({ code: 0 })
    expect(oss.exec(`lctl set_param ${start('m3')} ${start('m3')}`)).toMatchObject({
      stdout: `${TBF}=start m3 jobid={a} rate=5\n`,
      code: 17,
    })
  })

  it('clears job_stats, of all jobs or of one by its printed name', () => {
    const { cluster: c, oss } = cluster()
    c.sim.runUntil(1e9)
    const jobs = (): string[] =>
      oss.exec("lctl get_param 'obdfilter.*.job_stats'").stdout.match(/(?<=job_id: +)\S.*/g) ?? []
    // In order of first appearance at a target: the small reads end first.
    expect(jobs()).toEqual(['"rank\\x200:1"', '4690.train.py.u1021', '"rank\\x200:1"'])
    const one = `lctl set_param obdfilter.t-OST0001.job_stats=${shellQuote('"rank\\x200:1"')}`
    expect(oss.exec(one).code).toBe(0)
    expect(oss.exec(one).code).toBe(22)
    expect(jobs()).toEqual(['"rank\\x200:1"', '4690.train.py.u1021'])
    expect(oss.exec("lctl set_param 'obdfilter.*.job_stats=clear'").code).toBe(0)
    expect(jobs()).toEqual([])
  })

  it('keeps permanent parameters on the first MDS only, and every server hears of them', () => {
    const scenario = parseScenario(
      text.replace('control:', 'mds: [{ name: mds01, mdts: [{ name: t-MDT0000 }] }]\ncontrol:'),
    )
    if (!scenario.ok) throw new Error(scenario.error.why)
    const c = new EmulatedCluster(scenario.value)
    const oss = c.node('oss01')!
    const mds = c.node('mds01')!
    const command = `lctl set_param -P ${TBF}='start night jobid={9.*} rate=5'`
    expect(oss.exec(command)).toMatchObject({ code: 19, stdout: '' })
    expect(mds.exec(command)).toEqual({ stdout: '', stderr: '', code: 0 })
    expect(oss.exec(`lctl get_param ${TBF}`).stdout).not.toContain('night')
    c.sim.runUntil(c.sim.now + 10e9)
    expect(oss.exec(`lctl get_param ${TBF}`).stdout).toContain('night jobid={9.*} 5, ref 0')
  })

  it('is missing on the node of the scheduler', () => {
    expect(cluster().scheduler.exec('lctl get_param version').code).toBe(127)
  })
})

describe('transient timers', () => {
  const start = (unit: string, seconds: string, command: string): string =>
    `systemd-run --quiet --collect --unit=${unit} --on-active=${seconds} sh -c ${shellQuote(command)}`
  const rules = (node: EmulatedNode): string => node.exec(`lctl get_param -n ${TBF}`).stdout

  it('run their command once at their instant, as a dead man switch does', () => {
    const { cluster: c, oss } = cluster()
    oss.exec(`lctl set_param ${TBF}='start a jobid={dd.0} rate=5'`)
    const made = oss.exec(start('sluice-a', '90s', `lctl set_param ${TBF}='stop a'`))
    expect(made).toEqual({ stdout: '', stderr: '', code: 0 })
    expect([...oss.timers]).toEqual([['sluice-a', 90e9]])
    c.sim.runUntil(90e9 - 1)
    expect(rules(oss)).toContain('a jobid={dd.0} 5')
    c.sim.runUntil(90e9)
    expect(rules(oss)).not.toContain('a jobid')
    expect(oss.timers.size).toBe(0)
  })

  it('can be stopped, and then do nothing', () => {
    const { cluster: c, oss } = cluster()
    oss.exec(`lctl set_param ${TBF}='start a jobid={dd.0} rate=5'`)
    oss.exec(start('u', '5', `lctl set_param ${TBF}='stop a'`))
    expect(oss.exec('systemctl stop u.timer').code).toBe(0)
    expect(oss.exec('systemctl stop u.timer')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('not loaded') as string,
    })
    c.sim.runUntil(6e9)
    expect(rules(oss)).toContain('a jobid={dd.0} 5')
  })

  it('run their last command, even if they are started again at the same time', () => {
    const { cluster: c, oss } = cluster()
    oss.exec(start('u', '2min', `lctl set_param ${TBF}='start old jobid={x} rate=5'`))
    expect(oss.exec(start('u', '5', 'true'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already') as string,
    })
    oss.exec('systemctl stop u.timer')
    oss.exec(start('u', '120', `lctl set_param ${TBF}='start new jobid={x} rate=5'`))
    c.sim.runUntil(121e9)
    expect(rules(oss)).toContain('new jobid={x} 5')
    expect(rules(oss)).not.toContain('old jobid={x} 5')
  })

  it('take the end of their options from --, and refuse what they do not know', () => {
    const { cluster: c, oss } = cluster()
    expect(
      oss.exec(`systemd-run --unit=u --on-active=1m -- lctl set_param ${TBF} 'start a jobid={x} rate=5'`).code,
    ).toBe(0)
    c.sim.runUntil(60e9)
    expect(rules(oss)).toContain('a jobid={x} 5')
    for (const bad of [
      '--unit=x true',
      '--on-active=5 true',
      '--unit=x --on-active=soon true',
      '--unit=x --on-active=5',
      '--user true',
    ]) {
      expect(oss.exec(`systemd-run ${bad}`).code, bad).toBe(1)
    }
    expect(oss.exec('systemctl restart u').code).toBe(1)
  })
})

describe('squeue', () => {
  it('lists the jobs that Slurm runs now, in the format asked for', () => {
    const { cluster: c, scheduler } = cluster()
    const run = (): string => scheduler.exec("squeue -h -o '%A|%j|%u|%a|%D|%T'").stdout
    expect(run()).toBe('4690|train.py|tkovac|ml|2|RUNNING\n')
    c.sim.runUntil(4e9)
    // All RPCs of the first job are served; the last job starts at 5 s and ends at 9 s.
    expect(run()).toBe('')
    c.sim.runUntil(5e9)
    expect(run()).toBe('4711|late|aosei|aero|2|RUNNING\n')
    c.sim.runUntil(9e9)
    expect(run()).toBe('')
  })

  it('prints the same as JSON and through scontrol, including names of any bytes', () => {
    const { scheduler } = cluster()
    const read = JSON.parse(scheduler.exec('squeue --json').stdout) as { jobs: unknown[]; errors: unknown[] }
    expect(read.errors).toEqual([])
    expect(read.jobs).toMatchObject([
      {
        job_id: 4690,
        name: 'train.py',
        user_name: 'tkovac',
        user_id: 1021,
        account: 'ml',
        job_state: ['RUNNING'],
        node_count: { set: true, infinite: false, number: 2 },
        nodes: 'cn001,cn002',
        start_time: { set: true, infinite: false, number: 1_763_676_476 },
      },
    ])
    expect(scheduler.exec('scontrol show job -o').stdout).toMatch(
      /^JobId=4690 JobName=train\.py UserId=tkovac\(1021\) .* Account=ml .* JobState=RUNNING .* NumNodes=2 .*\n$/,
    )
    expect(scheduler.exec('scontrol show jobs').stdout.split('\n').length).toBeGreaterThan(8)
    expect(scheduler.exec('scontrol show nodes')).toMatchObject({ code: 1 })
  })

  it('has a head line without -h', () => {
    expect(cluster().scheduler.exec('squeue').stdout.split('\n')).toHaveLength(3)
  })
})

import { describe, expect, it } from 'vitest'
import { makeTestfs, type Testfs } from '../../../tests/node/testfs.ts'
import { parseBrwStats } from '../../lustre/brw-stats.ts'
import { parseDevices } from '../../lustre/devices.ts'
import { parseJobStats } from '../../lustre/job-stats.ts'
import { parseNrsPolicies } from '../../lustre/nrs-policies.ts'
import { parseRpcStats } from '../../../tests/node/corpus/parse-rpc-stats.ts'
import { parseServiceTimeouts } from '../../lustre/service-timeouts.ts'
import { parseStatsTable } from '../../lustre/stats-table.ts'
import { EmulatedCluster } from '../cluster.ts'
import { EmulatedNode } from '../node.ts'
import { parseScenario } from '../scenario.ts'
import { clientLustre } from './site.ts'

const VERSIONS = ['2.12.9', '2.15.8', '2.16.1', '2.17.0', '2.17.57'] as const

const text = `title: Parameters
epoch_s: 1763676476
policy: tbf jobid
clients: { count: 2, max_rpcs_in_flight: 2 }
oss:
  - name: oss01
    cpts: 2
    threads: 8
    osts:
      - { name: scratch-OST0000, disk: { bandwidth_mb_s: 500, channels: 2 } }
      - { name: scratch-OST0001, disk: { bandwidth_mb_s: 500, channels: 2 } }
mds:
  - name: mds01
    mdts:
      - { name: scratch-MDT0000 }
control: { max_rate: 100 }
jobs:
  - id: 1.dd.u0
    clients: [1]
    processes: 6
    op: write
    size_kib: 1024
    targets: [scratch-OST0000]
    pattern: { kind: continuous }
  - id: 2.md.u0
    clients: [2]
    processes: 2
    op: [create, close, unlink]
    start_s: 1
    pattern: { kind: continuous }
`

function cluster(): EmulatedCluster {
  const scenario = parseScenario(text)
  if (!scenario.ok) throw new Error(`${scenario.error.what}: ${scenario.error.why}`)
  return new EmulatedCluster(scenario.value)
}

const get = (node: EmulatedNode, name: string): string => {
  const r = node.exec(`lctl get_param -n ${name}`)
  if (r.code !== 0) throw new Error(r.stderr)
  return r.stdout
}
const set = (node: EmulatedNode, assignment: string): number => node.exec(`lctl set_param ${assignment}`).code

describe('the parameters of a running OSS', () => {
  it('count what its clients do, each in its own table', () => {
    const c = cluster()
    const oss = c.node('oss01')!
    c.sim.runUntil(2e9)
    const rows = (name: string): Map<string, number> => {
      const { rows: all, skipped } = parseStatsTable(get(oss, name))
      expect(skipped).toEqual([])
      return new Map(all.map((r) => [r.name, r.samples]))
    }
    const target = rows('obdfilter.scratch-OST0000.stats')
    const writes = target.get('write')!
    expect(writes).toBeGreaterThan(100)
    expect([...target]).toEqual([
      ['write_bytes', writes],
      ['write', writes],
    ])
    expect(rows('obdfilter.scratch-OST0000.exports.10.4.0.2@tcp.stats')).toEqual(target)
    expect(rows('obdfilter.scratch-OST0001.stats').size).toBe(0)
    const service = rows('ost.OSS.ost_io.stats')
    expect([...service.keys()]).toEqual([
      'req_waittime',
      'req_qdepth',
      'req_active',
      'req_timeout',
      'reqbuf_avail',
      'ost_write',
    ])
    expect(service.get('ost_write')).toBe(writes)
    const brw = parseBrwStats(get(oss, 'osd-*.scratch-OST0000.brw_stats'))
    expect(brw.skipped).toEqual([])
    const sizes = brw.sections.find((s) => s.title === 'disk I/O size')!
    // On each channel one more has begun than ended.
    expect(sizes.rows).toEqual([{ label: '1M', read: 0, write: writes + 2 }])
    const [job] = parseJobStats(get(oss, 'obdfilter.scratch-OST0000.job_stats')).entries
    expect(job!.counters.get('write')!.samples).toBe(writes)
    const estimates = parseServiceTimeouts(get(oss, 'ost.OSS.ost_io.timeouts'))
    expect(estimates.skipped).toEqual([])
    expect(estimates.estimates).toHaveLength(2)
    expect(get(oss, 'obdfilter.*.num_exports')).toBe('1\n0\n')
  })

  it('are cleared by a write, and then count from nothing', () => {
    const c = cluster()
    const oss = c.node('oss01')!
    c.sim.runUntil(1e9)
    for (const name of ['obdfilter.scratch-OST0000.stats', 'ost.OSS.ost_io.stats', 'osd-*.*.brw_stats']) {
      expect(set(oss, `${name}=clear`)).toBe(0)
    }
    const { times, rows } = parseStatsTable(get(oss, 'obdfilter.scratch-OST0000.stats'))
    expect(rows).toEqual([])
    expect(times).toEqual({
      snapshot: '1763676477.000000000',
      start: '1763676477.000000000',
      elapsed: '0.000000000',
    })
    expect(parseBrwStats(get(oss, 'osd-*.scratch-OST0000.brw_stats')).sections.every((s) => s.rows.length === 0)).toBe(
      true,
    )
    c.sim.runUntil(2e9)
    expect(parseStatsTable(get(oss, 'ost.OSS.ost_io.stats')).times.elapsed).toBe('1.000000000')
  })

  it('leave start and elapsed out of all tables when enable_stats_header is 0', () => {
    const c = cluster()
    const oss = c.node('oss01')!
    c.sim.runUntil(1e9)
    const starts = (): number[] =>
      ['obdfilter.*.stats', 'obdfilter.*.job_stats', 'ost.OSS.ost_io.stats', 'osd-*.*.brw_stats'].map(
        (name) => get(oss, name).split('start_time').length - 1,
      )
    expect(starts()).toEqual([2, 1, 1, 2])
    expect(set(oss, 'enable_stats_header=0')).toBe(0)
    expect(get(oss, 'enable_stats_header')).toBe('0\n')
    expect(starts()).toEqual([0, 0, 0, 0])
    expect(set(oss, 'enable_stats_header=1')).toBe(0)
    expect(starts()).toEqual([2, 1, 1, 2])
    expect(set(oss, 'enable_stats_header=yes')).toBe(22)
  })

  it('are the same list until a client connects', () => {
    const c = cluster()
    const { lustre } = makeTestfs({ version: '2.17.57', cpts: 1 })
    expect(lustre.parameters()).toBe(lustre.parameters())
    const oss = c.node('oss01')!
    const names = (): number => oss.exec('lctl list_param -R obdfilter').stdout.split('\n').length
    const before = names()
    c.sim.runUntil(1e9)
    const after = names()
    expect(after).toBeGreaterThan(before)
    c.sim.runUntil(2e9)
    expect(names()).toBe(after)
  })

  it('reach the scheduler of every service, and the module that they all read', () => {
    const c = cluster()
    const oss = c.node('oss01')!
    const state = (service: string, policy: string): string | undefined =>
      parseNrsPolicies(get(oss, `ost.OSS.${service}.nrs_policies`)).policies.find((p) => p.name === policy)?.state
    expect(state('ost_io', 'tbf')).toBe('started')
    expect(state('ost', 'tbf')).toBe('stopped')
    expect(set(oss, 'ost.OSS.ost.nrs_policies=crrn')).toBe(0)
    expect(state('ost', 'crrn')).toBe('started')
    expect(get(oss, 'ost.OSS.ost.nrs_crrn_quantum')).toBe('reg_quantum:8    \nhp_quantum:8    \n')
    expect(set(oss, 'ost.OSS.ost.nrs_crrn_quantum=reg_quantum:64')).toBe(0)
    expect(get(oss, 'ost.OSS.ost.nrs_crrn_quantum')).toBe('reg_quantum:64   \nhp_quantum:8    \n')
    expect(set(oss, 'ost.OSS.ost_create.nrs_policies=orr')).toBe(2)
    expect(oss.exec('lctl get_param -o tbf_rate').stdout).toBe('tbf_rate=10000\n')
    expect(oss.exec('lctl set_param -o tbf_rate=77').code).toBe(0)
    expect(set(oss, "ost.OSS.ost_io.nrs_tbf_rule='start r jobid={x}'")).toBe(0)
    expect(get(oss, 'ost.OSS.ost_io.nrs_tbf_rule')).toContain('r jobid={x} 77, ref 0\n')
    expect(set(oss, 'ost.OSS.ost_io.high_priority_ratio=3')).toBe(0)
    expect(c.oss[0]!.service.highPriorityRatio).toBe(3)
    expect(get(oss, 'ost.OSS.ost_io.threads_started')).toBe('8\n')
    expect(set(oss, 'ost.OSS.ost_io.threads_max=1')).toBe(34)
    expect(set(oss, 'ost.OSS.ost_io.threads_max=64')).toBe(0)
    expect(get(oss, 'cpu_partition_table')).toBe('0\t: 0\n1\t: 1\n')
  })
})

describe('the parameters of a running MDS', () => {
  it('count metadata operations', () => {
    const c = cluster()
    const mds = c.node('mds01')!
    c.sim.runUntil(2e9)
    const { rows, skipped } = parseStatsTable(get(mds, 'mdt.scratch-MDT0000.md_stats'))
    expect(skipped).toEqual([])
    expect(rows.map((r) => [r.name, r.unit])).toEqual([
      ['open', 'usecs'],
      ['close', 'usecs'],
      ['mknod', 'usecs'],
      ['unlink', 'usecs'],
    ])
    expect(parseStatsTable(get(mds, 'mdt.*.exports.10.4.0.3@tcp.stats')).rows).toEqual(rows)
    const service = parseStatsTable(get(mds, 'mds.MDS.mdt.stats')).rows
    expect(service.slice(5).map((r) => [r.name, r.unit])).toEqual([
      ['ldlm_ibits_enqueue', 'reqs'],
      ['mds_reint_unlink', 'reqs'],
      ['mds_reint_open', 'reqs'],
    ])
    expect(parseStatsTable(get(mds, 'mds.MDS.mdt_readpage.stats')).rows.map((r) => r.name)).toContain('mds_close')
    expect(get(mds, 'lov.*.target_obd')).toBe('0: scratch-OST0000_UUID ACTIVE\n1: scratch-OST0001_UUID ACTIVE\n')
    expect(parseJobStats(get(mds, 'mdt.*.job_stats')).entries.map((e) => e.jobId)).toEqual(['2.md.u0'])
  })
})

describe('the parameters of a client', () => {
  const clientNode = (c: EmulatedCluster, number: number): EmulatedNode =>
    new EmulatedNode(c.sim, { name: 'n', roles: ['scheduler'], lustre: clientLustre(c.clients[number - 1]!, c) })

  it('limit its RPCs in flight, and say how many there are', () => {
    const c = cluster()
    const client = clientNode(c, 1)
    c.sim.runUntil(1e9)
    const line = [...c.clients[0]!.lines.values()][0]!
    expect(line.inFlight).toBe(2)
    expect(get(client, 'osc.*OST0000*.max_rpcs_in_flight')).toBe('2\n')
    expect(set(client, "'osc.*OST0000*.max_rpcs_in_flight=5'")).toBe(0)
    expect(line.inFlight).toBe(5)
    c.sim.runUntil(1.5e9)
    expect(line.inFlight).toBe(5)
    for (const [bad, code] of [
      ['abc', 22],
      ['0', 34],
      ['257', 34],
      ['-1', 22],
    ] as const) {
      expect(set(client, `'osc.*.max_rpcs_in_flight=${bad}'`), bad).toBe(code)
    }
    const stats = parseRpcStats(get(client, 'osc.*OST0000*.rpc_stats'))
    expect(stats.skipped).toEqual([])
    expect(stats.gauges).toEqual({ read: 0, write: 5, dio: 5, pendingWritePages: 0, pendingReadPages: 0 })
    const section = (title: string) => stats.sections.find((s) => s.title === title)!.rows.filter((r) => r.write > 0)
    expect(section('pages per rpc').map((r) => r.label)).toEqual(['256'])
    expect(section('rpcs in flight').map((r) => r.label)).toEqual(['1', '2', '3', '4', '5'])
    expect(section('offset').length).toBeGreaterThan(4)
    expect(section('RPC latency (us)').reduce((n, r) => n + r.write, 0)).toBe(c.jobs[0]!.servedRpcs)
  })

  it('count its modifying RPCs to an MDT apart', () => {
    const c = cluster()
    c.sim.runUntil(2e9)
    const { modify, skipped } = parseRpcStats(get(clientNode(c, 2), 'mdc.*.rpc_stats'))
    expect(skipped).toEqual([])
    expect(modify!.rows.map((r) => r.label)).toEqual(['0', '1', '2'])
    expect(modify!.inFlight).toBeLessThanOrEqual(2)
  })

  it('are those of connections only: no service of a server is there', () => {
    const c = cluster()
    const client = clientNode(c, 1)
    expect(client.exec("lctl list_param '*.*.*.nrs_policies'").stdout).toBe(
      'ldlm.services.ldlm_canceld.nrs_policies\nldlm.services.ldlm_cbd.nrs_policies\n',
    )
    expect(parseDevices(client.exec('lctl dl -t').stdout).devices.map((d) => [d.type, d.peer])).toEqual([
      ['mgc', undefined],
      ['lov', undefined],
      ['lmv', undefined],
      ['mdc', '10.2.0.1@tcp'],
      ['osc', '10.3.0.1@tcp'],
      ['osc', '10.3.0.1@tcp'],
    ])
  })
})

describe('the parameters of a node with all roles', () => {
  const all = (
    version: string,
    cpts = 2,
  ): Testfs & { readonly read: (name: string) => string; readonly write: (name: string, value: string) => string } => {
    const fs = makeTestfs({ version, cpts })
    const at = (name: string) => fs.lustre.parameters().find((p) => p.name === name)
    return {
      ...fs,
      read: (name) => {
        const r = at(name)?.read()
        return r === undefined ? 'ENOENT' : r.ok ? r.value : r.error
      },
      write: (name, value) => {
        const r = at(name)?.write?.(value)
        return r === undefined ? 'EACCES' : r.ok ? 'ok' : r.error
      },
    }
  }

  it.each(VERSIONS)('have no two files of one path in %s, and every one can be read', (version) => {
    const { lustre } = all(version)
    const files = lustre.parameters()
    expect(new Set(files.map((p) => p.path)).size).toBe(files.length)
    for (const p of files) {
      const value = p.read()
      if (value.ok) expect(value.value === '' || value.value.endsWith('\n'), p.name).toBe(true)
    }
  })

  it('set job ids by the rules of the kernel', () => {
    const { read, write } = all('2.17.57')
    expect(read('jobid_var')).toBe('disable\n')
    expect(read('jobid_name')).toBe('%e.%u\n')
    expect(read('jobid_this_session')).toBe('ENOENT')
    expect(write('jobid_var', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')).toBe('EINVAL')
    expect(write('jobid_var', '')).toBe('EINVAL')
    expect(write('jobid_name', '%e.%u.abcdefghijklmnopqrstuvwxyz0123456789')).toBe('EINVAL')
    // Without a format code it only removes an id from a cache, unless the name itself is the id.
    expect(write('jobid_name', 'jobid_var=disable')).toBe('ok')
    expect(read('jobid_name')).toBe('%e.%u\n')
    expect(write('jobid_var', 'nodelocal\n')).toBe('ok')
    expect(write('jobid_name', 'lit')).toBe('ok')
    expect(read('jobid_name')).toBe('lit\n')
    expect(write('jobid_this_session', 'sess1')).toBe('ok')
    expect(read('jobid_this_session')).toBe('sess1\n')
  })

  it('drop entries of job_stats by the names that the release takes', () => {
    const dropped = (version: string, name: string): string => {
      const { oss, write } = all(version)
      for (const id of ['rank 0:1', '@at', 'dd.0']) oss.osts[0]!.jobStats.countIo(1, id, 'write', 4096, 1000)
      const answer = write('obdfilter.testfs-OST0000.job_stats', name)
      return `${answer} ${oss.osts[0]!.jobStats.jobIds.length}`
    }
    expect(dropped('2.17.57', '"rank\\x200:1"')).toBe('ok 2')
    expect(dropped('2.17.57', '@at')).toBe('ok 2')
    expect(dropped('2.17.57', '"bad\\xZZ"')).toBe('EINVAL 3')
    expect(dropped('2.17.57', 'nosuchjob')).toBe('EINVAL 3')
    expect(dropped('2.17.57', 'clear')).toBe('ok 0')
    expect(dropped('2.15.8', '"rank\\x200:1"')).toBe('EINVAL 3')
    expect(dropped('2.15.8', 'rank 0:1')).toBe('ok 2')
    expect(dropped('2.15.8', 'clear')).toBe('ok 0')
    const { read, write } = all('2.17.0')
    expect(write('obdfilter.testfs-OST0000.job_cleanup_interval', '7')).toBe('ok')
    expect(read('obdfilter.testfs-OST0000.job_cleanup_interval')).toBe('6\n')
  })

  it('print an empty job_stats as the release does', () => {
    const values = VERSIONS.map((v) => all(v).read('mdt.testfs-MDT0000.job_stats'))
    expect(values).toEqual(['job_stats:\n', 'job_stats:\n', 'job_stats:\n', '', ''])
  })

  it('have the defaults and limits of the release', () => {
    const at = 'ldlm.namespaces.filter-testfs-OST0000_UUID'
    const old = all('2.17.0')
    const now = all('2.17.57')
    expect(VERSIONS.map((v) => all(v).read(`${at}.contended_locks`))).toEqual(['32\n', '32\n', '32\n', '32\n', '16\n'])
    expect(VERSIONS.map((v) => all(v).read(`${at}.lru_max_age`))).toEqual([
      '3900000\n',
      '3900000\n',
      '600000\n',
      '600000\n',
      '600000\n',
    ])
    expect(VERSIONS.map((v) => all(v).read(`${at}.max_nolock_bytes`))).toEqual(['0\n', '0\n', '0\n', '0\n', 'ENOENT'])
    for (const [value, before, after] of [
      ['8', 'ok', 'ok'],
      ['0', 'ok', 'EINVAL'],
      ['99', 'ok', 'EINVAL'],
      ['-1', 'EINVAL', 'EINVAL'],
    ] as const) {
      expect(
        [old, now].map((n) => n.write(`${at}.contention_seconds`, value)),
        value,
      ).toEqual([before, after])
    }
    expect(now.write(`${at}.contention_hold_seconds`, '5')).toBe('EINVAL')
    expect(now.write(`${at}.contention_hold_seconds`, '20')).toBe('ok')
    expect(old.read(`${at}.contention_hold_seconds`)).toBe('ENOENT')
    expect(now.write(`${at}.lru_max_age`, '900s')).toBe('ok')
    expect(now.read(`${at}.lru_max_age`)).toBe('900000\n')
    expect(now.write(`${at}.lock_cache_policy`, 'LRU')).toBe('ok')
    expect(now.write(`${at}.lock_cache_policy`, 'FIFO')).toBe('EINVAL')
    // Locks are not emulated, so none are counted.
    expect(now.read(`${at}.lock_count`)).toBe('ENOENT')
  })

  it('list the devices of all its roles, with the references that the release shows', () => {
    const devices = (version: string) => parseDevices(all(version).read('devices')).devices
    const types = (version: string): string =>
      devices(version)
        .map((d) => d.type)
        .join(' ')
    expect(types('2.15.8')).toBe(
      'osd-ldiskfs mgs mgc mds lod mdt mdd qmt lwp osd-ldiskfs ost obdfilter lwp osd-ldiskfs obdfilter lwp ' +
        'lov lmv mdc osc osc osp osp',
    )
    const refs = (list: readonly { readonly type: string; readonly refs: number }[], type: string): number =>
      list.find((d) => d.type === type)!.refs
    for (const [type, expected] of [
      ['obdfilter', 6],
      ['mgs', 4],
      ['mds', 2],
      ['osc', 4],
    ] as const) {
      expect(refs(devices('2.15.8'), type), type).toBe(expected)
      expect(refs(devices('2.17.57'), type), type).toBe(expected + 2)
      expect(refs(all('2.17.57').lustre.devices!(), type), type).toBe(expected + 1)
    }
  })
})

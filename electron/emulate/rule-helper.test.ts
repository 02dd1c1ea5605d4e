import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HELPER_PREFIX, OPERATOR_PREFIX, RULE_PREFIXES } from '#core/controllers/registry.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { parseTimers } from '../enforce/expiry.ts'
import { bytesScenario } from '#tests/kits/electron/emulate/emulation.ts'

const SLUICE_RULE = join(import.meta.dirname, '../../resources/server/sluice-rule')
const PARAMETER = 'ost.OSS.ost_io.nrs_tbf_rule'

describe('sluice-rule', () => {
  it('takes the rules of every controller there is, and of no other', () => {
    const script = readFileSync(SLUICE_RULE, 'utf8')
    const alternatives = /^ *((?:\w+_\* \| )*\w+_\*)\)$/m.exec(script)?.[1] ?? ''
    expect(alternatives.split(' | ').map((a) => a.slice(0, -1))).toEqual(RULE_PREFIXES)
    expect(script).toContain(` ${OPERATOR_PREFIX}?* | ${HELPER_PREFIX}?*) ;;`)
  })
})

describe('the helper of an emulated server', () => {
  it('keeps an expiry that outlives the process that requested it', () => {
    const cluster = new EmulatedCluster(bytesScenario())
    const node = cluster.node('oss01')!
    const ops = { name: 'ops', uid: 1000, sudo: ['/usr/local/sbin/sluice-rule'] }
    const sudo = (words: string) => node.exec(`sudo -n /usr/local/sbin/sluice-rule ${words}`, ops)
    const rules = () => node.exec(`lctl get_param -n ${PARAMETER}`).stdout
    cluster.sim.runUntil(1e9)
    expect(sudo(`expire 60 sluice-x ${PARAMETER} reg sl_a`)).toMatchObject({ code: 0 })
    expect(sudo(`start ${PARAMETER} reg sl_a 'jobid={a.n01}' 50`)).toMatchObject({ code: 0 })
    expect(rules()).toContain('sl_a jobid={a.n01} 50')
    expect(parseTimers('helper', sudo('list').stdout)).toEqual([
      {
        unit: 'sluice-x',
        stops: [{ parameter: PARAMETER, queue: 'reg', name: 'sl_a' }],
        leftS: 60,
        isOwn: true,
        file: '/run/systemd/transient/sluice-x.timer',
      },
    ])
    expect(node.exec(`/usr/local/sbin/sluice-rule stop ${PARAMETER} reg sl_a`, ops).code).not.toBe(0)
    cluster.sim.runUntil(61e9 - 1)
    expect(rules()).toContain('sl_a')
    cluster.sim.runUntil(61e9)
    expect(rules()).not.toContain('sl_a')
    expect(sudo('end sluice-x')).toMatchObject({ code: 5 })
    sudo(`expire 60 sluice-y ${PARAMETER} reg sl_a`)
    expect(sudo('end sluice-y')).toMatchObject({ code: 0 })
    expect(node.timers.size).toBe(0)
  })
})

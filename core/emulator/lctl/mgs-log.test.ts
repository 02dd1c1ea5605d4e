import { describe, expect, it } from 'vitest'
import { fail, ok } from '../../base/result.ts'
import { Simulation } from '../../sim/simulation.ts'
import { EmulatedNode } from '../node.ts'
import type { Parameter } from '../parameter.ts'
import type { LustreSide } from './host.ts'
import { MgsLog } from './mgs-log.ts'

describe('permanent parameters', () => {
  const sim = new Simulation()
  const values = new Map<string, string>()
  const side = (name: string): LustreSide => {
    const jobidVar: Parameter = {
      name: 'jobid_var',
      path: '/sys/fs/lustre/jobid_var',
      tree: 'sysfs',
      read: () => ok(values.get(name) ?? 'disable\n'),
      write: (v) => (v === 'bad' ? fail('EINVAL') : (values.set(name, v), ok(undefined))),
    }
    const parameters = [jobidVar]
    return { version: '2.17.57', parameters: () => parameters }
  }
  const sides = [side('mgs'), side('oss')]
  const log = new MgsLog(sim, () => sides)
  const node = new EmulatedNode(sim, {
    name: 'mgs',
    roles: ['mds'],
    lustre: { ...(sides[0] as LustreSide), paramsLog: log },
  })

  it('reach every node ten seconds later, unless deleted by then; errors are not reported', () => {
    expect(node.exec('lctl set_param -P jobid_var=first')).toEqual({ stdout: '', stderr: '', code: 0 })
    sim.runUntil(10e9 - 1)
    expect([...values]).toEqual([])
    sim.runUntil(10e9)
    expect([...values]).toEqual([
      ['mgs', 'first'],
      ['oss', 'first'],
    ])
    node.exec('lctl set_param -P jobid_var=second')
    node.exec('lctl set_param -P -d jobid_var')
    expect(node.exec('lctl set_param -P jobid_var=bad no.such=1').code).toBe(0)
    sim.runUntil(30e9)
    expect(values.get('oss')).toBe('first')
    expect(log.records()).toEqual([
      { index: 4, name: 'jobid_var', value: 'bad' },
      { index: 5, name: 'no.such', value: '1' },
    ])
  })
})

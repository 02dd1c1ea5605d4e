import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readServer, serviceWith } from '../../tests/rule-oracle.ts'
import { afterPlan, simulatePlan } from './simulate.ts'

const name = fc.constantFrom('a', 'b', 'c', 'default', 'toolongaruleface')
const selector = fc.constantFrom('', 'reg ', 'hp ')
const pairs = fc.constantFrom('', ' rate=5', ' rate=70', ' rate=0', ' rank=a', ' rank=default', ' rate=9 rank=b')
const value = fc.oneof(
  fc.tuple(selector, name, pairs).map(([s, n, p]) => `${s}start ${n} jobid={x}${p}`),
  fc.tuple(selector, name, pairs).map(([s, n, p]) => `${s}change ${n}${p}`),
  fc.tuple(selector, name).map(([s, n]) => `${s}stop ${n}`),
)

describe('simulatePlan', () => {
  it('returns and leaves the same as a server after every command, including errors on half of the heads', () => {
    let failed = 0
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), fc.array(value, { minLength: 1, maxLength: 6 }), (first, then) => {
        const service = serviceWith('tbf jobid', [])
        for (const v of first) service.writeRule(v)
        const steps = simulatePlan(readServer(service), then)
        then.forEach((v, i) => {
          const done = service.writeRule(v)
          if (!done.ok) failed++
          expect(steps[i]?.error, v).toBe(done.ok ? undefined : done.error)
          expect(steps[i]?.rules.map((r) => ({ ...r, ref: 0 }))).toEqual(readServer(service).rules)
        })
      }),
      { numRuns: 500 },
    )
    expect(failed).toBeGreaterThan(100)
  })

  it('shows the rules as they are where there is nothing to do', () => {
    const server = readServer(serviceWith('tbf jobid', ['start a jobid={x} rate=5']))
    expect(afterPlan(server, [])).toEqual(server.rules)
    expect(simulatePlan(server, [])).toEqual([])
  })
})

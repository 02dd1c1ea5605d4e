import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameFor, parseDesired, startOrder, type DesiredRule } from './desired-file.ts'

const TEXT = `# what the night shift wants
rules:
  - { match: "jobid={hog.n01}", rate: 50, queue: reg }
  - match: jobid={4690.*}
    rate: 200
    name: ops_4690
    rank: default
`
const why = (text: string): string => {
  const r = parseDesired(text, 'f.yaml')
  return r.ok ? 'read' : `${r.error.code}: ${r.error.why ?? ''}`
}
const rule = (name: string, rank?: string): DesiredRule => ({
  name,
  match: 'jobid={a.1}',
  rate: 1,
  queue: 'reg',
  line: 1,
  rank,
})

describe('a file of desired rules', () => {
  it('is read with the line of each rule; the queue is reg, and a name stands for match and queue', () => {
    const read = parseDesired(TEXT, 'f.yaml')
    if (!read.ok) throw new Error(read.error.why)
    const name = nameFor('jobid={hog.n01}', 'reg')
    expect(name).toMatch(/^sl_[0-9a-f]{10}$/)
    expect(name).not.toBe(nameFor('jobid={hog.n01}', 'hp'))
    expect(read.value).toEqual([
      { name, match: 'jobid={hog.n01}', rate: 50, queue: 'reg', rank: undefined, line: 3 },
      { name: 'ops_4690', match: 'jobid={4690.*}', rate: 200, queue: 'reg', rank: 'default', line: 4 },
    ])
  })

  it.each([
    ['rules:\n  - { match: "a", rate: 5 }\n  - { match: "b", rate: 5,\n      burst: 3 }', 'line 4: rules.1: '],
    ['rules: []\nmore: 1', 'line 2: '],
    ['rules:\n  - { match: "a", rate: 0 }', 'line 2: rules.0.rate'],
    ['rules:\n  - { match: "a", rate: 1.5 }', 'line 2: rules.0.rate'],
    ['rules:\n  - { rate: 5 }', 'line 2: rules.0.match'],
    ['rules:\n  - { match: "a", rate: 5, name: "a; reboot" }', 'line 2: rules.0.name'],
    ['rules:\n  - { match: "a", rate: 5 }\n  - { match: "a", rate: 6 }', 'is already in line 2'],
    ['rules:\n  - { match: "jobid={x\'; reboot #}", rate: 5 }', 'line 2: rules.0.match: quotes'],
    ['rules:\n  - { match: "jobid={$(id)}", rate: 5 }', 'line 2: rules.0.match: quotes'],
    ['rules:\n  - { match: "jobid={a}\\u001b[2J", rate: 5 }', 'line 2: rules.0.match: quotes'],
    ['rules: [', 'DESIRED_UNREADABLE'],
    ['', 'DESIRED_UNREADABLE'],
    ['a: &a [x, x]\nrules: [*a, *a]', 'DESIRED_UNREADABLE'],
  ])('%j is refused with its line', (text, reason) => expect(why(text)).toContain(reason))
})

describe('the order in which rules are started', () => {
  it('is from the last to the first, so that they stand as in the file', () => {
    const order = startOrder([rule('a'), rule('b'), rule('c', 'default')])
    expect(order.ok && order.value.map((r) => r.name)).toEqual(['c', 'b', 'a'])
  })

  it('has every rule once, and none before the one that it is to stand before', () => {
    const ranks = fc.array(fc.option(fc.nat({ max: 9 }), { nil: undefined }), { maxLength: 10 })
    fc.assert(
      fc.property(ranks, (of) => {
        const rules = of.map((rank, i) =>
          rule(`r${i}`, rank === undefined || rank >= of.length ? undefined : `r${rank}`),
        )
        const order = startOrder(rules)
        const leads = (r: DesiredRule | undefined, n: number): boolean =>
          r?.rank !== undefined &&
          (n === 0 ||
            leads(
              rules.find((x) => x.name === r.rank),
              n - 1,
            ))
        expect(order.ok).toBe(!rules.some((r) => leads(r, rules.length)))
        if (!order.ok) return
        expect(order.value.map((r) => r.name).sort()).toEqual(rules.map((r) => r.name).sort())
        order.value.forEach((r, i) => {
          const at = order.value.findIndex((x) => x.name === r.rank)
          expect(r.rank === undefined || at < i).toBe(true)
        })
      }),
    )
  })
})

// Reference implementation of the specification in exact rationals and by full scans, as an oracle for the doubles and the selection.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TokenAllocator } from './allocation.ts'

class Ratio {
  readonly n: bigint
  readonly d: bigint
  constructor(n: bigint, d = 1n) {
    const sign = d < 0n ? -1n : 1n
    let a = n < 0n ? -n : n
    let b = d < 0n ? -d : d
    while (b > 0n) [a, b] = [b, a % b]
    this.n = (sign * n) / a
    this.d = (sign * d) / a
  }
  plus(o: Ratio): Ratio {
    return new Ratio(this.n * o.d + o.n * this.d, this.d * o.d)
  }
  minus(o: Ratio): Ratio {
    return new Ratio(this.n * o.d - o.n * this.d, this.d * o.d)
  }
  times(o: Ratio): Ratio {
    return new Ratio(this.n * o.n, this.d * o.d)
  }
  over(o: Ratio): Ratio {
    return new Ratio(this.n * o.d, this.d * o.n)
  }
  isAbove(o: Ratio): boolean {
    return this.n * o.d > o.n * this.d
  }
  floor(): number {
    const truncated = this.n / this.d
    return Number(this.n < 0n && truncated * this.d !== this.n ? truncated - 1n : truncated)
  }
}

const integer = (value: number): Ratio => new Ratio(BigInt(value))
const zero = integer(0)
const one = integer(1)
const sumOf = (values: readonly Ratio[]): Ratio => values.reduce((a, b) => a.plus(b), zero)
const larger = (a: Ratio, b: Ratio): Ratio => (b.isAbove(a) ? b : a)

interface Memory {
  record: number
  rho: Ratio
  prev: number | undefined
}
interface Job {
  id: string
  nodes: number
  demand: number
}

class ExactAllocator {
  readonly memory = new Map<string, Memory>()

  step(budget: number, jobs: readonly Job[]): Record<string, number> {
    const active = jobs.filter((job) => job.demand > 0)
    active.sort((a, b) => b.nodes - a.nodes || (a.id < b.id ? -1 : 1))
    const x = active.map((job) => {
      const memory = this.memory.get(job.id) ?? { record: 0, rho: zero, prev: undefined }
      this.memory.set(job.id, memory)
      return { job, memory }
    })
    const all = integer(x.reduce((sum, { job }) => sum + job.nodes, 0))
    const p = x.map(({ job }) => integer(job.nodes).over(all))
    const a0 = this.#distribute(
      budget,
      p.map((part) => part.times(integer(budget))),
      x.map(({ memory }) => memory),
    )
    const u = x.map(({ job, memory }, i) => integer(job.demand).over(integer(Math.max(1, memory.prev ?? a0[i]!))))
    const ts = x.map(({ job }, i) => Math.max(0, a0[i]! - job.demand))
    const df = u.map((ui, i) => (ui.isAbove(one) ? ui.plus(ui.times(p[i]!)) : ui.times(p[i]!)))
    const g = this.#byFactor(
      ts.reduce((a, b) => a + b, 0),
      df,
      x.map(({ memory }) => memory),
    )
    const a1 = a0.map((a, i) => a - ts[i]! + g[i]!)
    const r1 = x.map(({ memory }, i) => memory.record + ts[i]! - g[i]!)
    const lenders = x.flatMap(({ memory }, i) => (memory.record > 0 && r1[i]! > 0 ? [i] : []))
    const c = sumOf(
      lenders.map((i) => {
        const future = integer(x[i]!.job.demand).over(integer(Math.max(1, a1[i]!)))
        return p[i]!.times(larger(one, u[i]!).plus(larger(zero, one.minus(future)))).over(integer(2))
      }),
    )
    const tr = x.map(({ memory }, i) =>
      memory.record < 0 && r1[i]! < 0 ? Math.min(-memory.record, c.times(integer(a1[i]!)).floor(), a1[i]!) : 0,
    )
    const h = this.#byFactor(
      tr.reduce((a, b) => a + b, 0),
      lenders.map((i) => df[i]!),
      lenders.map((i) => x[i]!.memory),
    )
    const a2 = a1.map((a, i) => a - tr[i]!)
    lenders.forEach((i, at) => (a2[i]! += h[at]!))
    for (const memory of this.memory.values()) memory.prev = undefined
    x.forEach(({ memory }, i) => {
      memory.record = r1[i]! + a1[i]! - a2[i]!
      memory.prev = a2[i]!
    })
    return Object.fromEntries(x.map(({ job }, i) => [job.id, a2[i]!]))
  }

  #byFactor(total: number, df: readonly Ratio[], members: readonly Memory[]): number[] {
    if (total === 0) return members.map(() => 0)
    const all = sumOf(df)
    return this.#distribute(
      total,
      df.map((factor) => factor.times(integer(total)).over(all)),
      members,
    )
  }

  #distribute(total: number, share: readonly Ratio[], members: readonly Memory[]): number[] {
    const g = members.map((m, i) => Math.max(0, m.rho.plus(share[i]!).floor()))
    members.forEach((m, i) => (m.rho = m.rho.plus(share[i]!).minus(integer(g[i]!))))
    if (members.length === 0) return []
    for (let remaining = total - g.reduce((a, b) => a + b, 0); remaining !== 0; remaining -= Math.sign(remaining)) {
      const able = members.flatMap((_, i) => (remaining > 0 || g[i]! > 0 ? [i] : []))
      const first = able.reduce((best, i) => (members[i]!.rho.isAbove(members[best]!.rho) ? i : best))
      g[first]! += Math.sign(remaining)
      members[first]!.rho = members[first]!.rho.minus(integer(Math.sign(remaining)))
    }
    return g
  }
}

const job = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
  nodes: fc.integer({ min: 1, max: 6 }),
  demand: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 400 })),
})
const period = fc.uniqueArray(job, { selector: ({ id }) => id, maxLength: 7 })

describe('doubles with EPS against exact rationals', () => {
  it('allocates the same tokens and records, jobs joining and leaving', () => {
    const rates = fc.constantFrom(30, 100, 333, 500, 1000)
    fc.assert(
      fc.property(rates, fc.array(period, { minLength: 1, maxLength: 12 }), (rate, periods) => {
        const exact = new ExactAllocator()
        const allocator = new TokenAllocator()
        for (const jobs of periods) {
          const expected = exact.step(Math.floor(rate / 10), jobs)
          const stepped = allocator.step({ maxRatePerSec: rate, dtSeconds: 0.1, jobs })
          if (!stepped.ok) throw new Error(stepped.error.what)
          const { ids, tokens } = stepped.value
          expect(Object.fromEntries(ids.map((id, i) => [id, tokens[i]]))).toEqual(expected)
          const records = Object.fromEntries([...exact.memory].map(([id, { record }]) => [id, record]))
          expect(Object.fromEntries(allocator.records())).toEqual(records)
        }
      }),
      { numRuns: 200 },
    )
  })
})

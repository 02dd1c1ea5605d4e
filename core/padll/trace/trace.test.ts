import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { boxMuller, mulberry32 } from './mulberry32.ts'
import { generateTrace, TRACE_A, TRACE_C, type TraceParameters } from './trace.ts'

interface Golden {
  params: Record<string, unknown> & { segMeans: number[] }
  n: number
  sum: number
  first12: number[]
  at: Record<string, number>
  max: number
}
const golden = JSON.parse(
  readFileSync(new URL('../../../tests/cases/padll-trace.json', import.meta.url), 'utf8'),
) as Record<'A' | 'C', Golden> & { mulberry32_seed9422_first5: number[] }

// exp, log, cos and sin may differ in the last bit between engines. In Node 24 every value is the same bit for bit; a
// difference up to 1e-12 means another engine's mathematics, a larger one another trace.
const ENGINE = 1e-12

it('draws the published numbers', () => {
  const uniform = mulberry32(9422)
  expect(Array.from({ length: 5 }, uniform)).toEqual(golden.mulberry32_seed9422_first5)
})

it('survives the one draw that has no logarithm', () => {
  expect(boxMuller(() => 0)()).toBeCloseTo(Math.sqrt(64 * Math.LN2), 9)
})

describe.each<['A' | 'C', TraceParameters]>([
  ['A', TRACE_A],
  ['C', TRACE_C],
])('trace %s', (name, parameters) => {
  const { params, n, sum, first12, at, max } = golden[name]
  const trace = generateTrace(parameters)
  const total = trace.reduce((all, rate) => all + rate, 0)

  it('has the published parameters', () => {
    const { segMeans, segLen, ...rest } = params
    expect(parameters).toEqual({ ...rest, segmentMeans: segMeans })
    expect(segLen).toBe(180)
  })

  it('is the published one', () => {
    expect(trace).toHaveLength(n)
    const pairs = [...first12.entries(), ...Object.entries(at).map(([i, rate]) => [Number(i), rate] as const)]
    for (const [i, rate] of pairs) expect(Math.abs(trace[i]! / rate - 1), `second ${i}`).toBeLessThan(ENGINE)
    expect(Math.abs(total / sum - 1)).toBeLessThan(ENGINE)
    expect(Math.abs(Math.max(...trace) / max - 1)).toBeLessThan(ENGINE)
  })

  it.runIf(process.versions.node.startsWith('24.'))('is so to the last bit in the engine that ships', () => {
    expect([...trace.subarray(0, 12)]).toEqual(first12)
    expect(Object.fromEntries(Object.keys(at).map((i) => [i, trace[Number(i)]]))).toEqual(at)
    expect([total, Math.max(...trace)]).toEqual([sum, max])
  })

  it('keeps the mean of every segment', () => {
    parameters.segmentMeans.forEach((mean, i) => {
      const segment = trace.subarray(i * 180, (i + 1) * 180)
      expect(segment.reduce((all, rate) => all + rate, 0) / 180_000).toBeCloseTo(mean, 9)
    })
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OBJECTIVES, OBJECTIVE_KEYS, PLANES } from './objectives.ts'

const page = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8')

describe('the objectives', () => {
  it.each(OBJECTIVE_KEYS)('%s is documented as it is defined', (key) => {
    const { plane, what, unit, better, means } = OBJECTIVES[key]
    const row = page.split('\n').find((line) => line.startsWith(`| \`${key}\` |`))
    expect(row?.split(' | ').map((cell) => cell.replace(/ \|$/, ''))).toEqual([
      `| \`${key}\``,
      plane,
      `${what}, ${unit}`,
      better ?? 'not judged',
      expect.any(String),
      means,
    ])
  })

  it('have a judged objective on every plane, and names of their own', () => {
    const all = Object.values(OBJECTIVES)
    for (const plane of PLANES) expect(all.some((o) => o.plane === plane && o.better !== null)).toBe(true)
    for (const names of [all.map((o) => o.name), all.map((o) => `${o.plane} ${o.what}`)]) {
      expect(new Set(names).size).toBe(all.length)
    }
  })
})

import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import type { RawReading } from '../../incidents/bundle/bundle-source.ts'
import { cutText, fitted, frozenReadings, readingsText } from './readings.ts'

const reading = (server: string, text: string): RawReading => ({ atMs: 1, server, what: 'ost.OSS.ost_io.stats', text })
const entry = (i: number): string =>
  `- job_id:          ${i}.app\n  snapshot_time:   1\n  write_bytes:     { samples: ${i} }\n`

describe('a text that is too long', () => {
  const text = `job_stats:\n${Array.from({ length: 100 }, (_, i) => entry(i)).join('')}`

  it('ends with a whole entry and says so', () => {
    const cut = cutText(text, 1_000)
    const [kept, output] = cut.split('\n# sluice: ')
    expect(text.startsWith(`${kept ?? ''}\n- job_id:`)).toBe(true)
    expect(output).toBe(`cut after ${kept?.length} of ${text.length} characters\n`)
    expect(cutText(text, text.length)).toBe(text)
  })

  it('of rules, or of one line, ends with a line', () => {
    expect(cutText('regular_requests:\nCPT 0:\na jobid={x} 10\nb jobid={y} 20', 40)).toMatch(
      /^regular_requests:\nCPT 0:\na/,
    )
    expect(cutText('x'.repeat(100), 10)).toBe('\n# sluice: cut after 0 of 100 characters\n')
  })
})

it('the longest of a source are cut until all fit; none is left out', () => {
  const any = fc.array(fc.nat({ max: 3_000 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(any, fc.nat({ max: 20_000 }), (lengths, most) => {
      const all = lengths.map((n, i) => reading(`oss${i}`, 'a line\n'.repeat(Math.ceil(n / 7)).slice(0, n)))
      const out = fitted(all, most)
      expect(out.map((r) => r.server)).toEqual(all.map((r) => r.server))
      const cut = out.filter((r, i) => r.text !== all[i]?.text)
      const output = cut.reduce((n, r) => n + r.text.slice(r.text.indexOf('\n# sluice')).length, 0)
      expect(out.reduce((n, r) => n + r.text.length, 0)).toBeLessThanOrEqual(most + output)
      if (lengths.reduce((n, l) => n + l, 0) <= most) expect(out).toEqual(all)
      // A text shorter than an uncut one is not cut.
      const whole = Math.max(0, ...out.flatMap((r, i) => (cut.includes(r) ? [] : [all[i]?.text.length ?? 0])))
      for (const r of cut) expect(all[out.indexOf(r)]?.text.length).toBeGreaterThanOrEqual(whole)
    }),
    { numRuns: 50 },
  )
})

describe('what was kept beside a notebook', () => {
  const bytes = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('')
  const all = [reading('oss1', bytes), reading('oss2', '- job_id: "<img src=x onerror=alert(1)>"\n')]

  it('comes back byte for byte', () => {
    const file = join(tempFolder(), 'INC-0001.readings.json')
    writeFileSync(file, readingsText('INC-0001', all))
    expect(frozenReadings(file, 'INC-0001')).toEqual(all)
    expect(frozenReadings(file, 'INC-0002')).toEqual([])
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['wrong types', '{"format":1,"incident":"INC-0001","readings":[{"atMs":"1","server":1,"what":{},"text":[]}]}'],
    ['another format', '{"format":2,"incident":"INC-0001","readings":[]}'],
  ])('exploit: %s is no readings', (_, text) => {
    const file = join(tempFolder(), 'INC-0001.readings.json')
    writeFileSync(file, text)
    expect(frozenReadings(file, 'INC-0001')).toEqual([])
  })

  it('exploit: a link is not followed, what is not there is none', () => {
    const folder = tempFolder()
    const file = join(folder, 'INC-0001.readings.json')
    expect(frozenReadings(file, 'INC-0001')).toEqual([])
    writeFileSync(join(folder, 'secret'), readingsText('INC-0001', all))
    symlinkSync(join(folder, 'secret'), file)
    expect(frozenReadings(file, 'INC-0001')).toEqual([])
  })
})

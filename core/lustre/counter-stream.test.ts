import { describe, expect, it } from 'vitest'
import { CounterStream, type CounterReading } from './counter-stream.ts'

const JOBS = 'obdfilter.*.job_stats'
const OST = 'obdfilter.fs-OST0000.job_stats'
const POLICIES = 'ost.OSS.ost_io.nrs_policies'
const NAMES = [JOBS, POLICIES]

const entry = (id: number, text: string): string => `entry ${id} ${text.length}\n${text}\n`
const value = (name: string, text: string): string => `value ${name} ${text.length}\n${text}`

function take(stream: CounterStream, sequence: number, text: string, names = NAMES): CounterReading {
  stream.expect(sequence, names)
  const read = stream.push(text)
  if (!read.ok || !read.value) throw new Error(JSON.stringify(read))
  return read.value
}

const FIRST = `begin 1 10.50 4000000\ntable ${OST} 2\n${entry(1, '- job_id: a\n  x: 1')}${entry(2, '- job_id: b\n  x: 2')}${value(POLICIES, 'p\nq\n')}end 1 10.52\n`

describe('CounterStream', () => {
  it('returns whole texts, the time of the server and the duration', () => {
    const read = take(new CounterStream(), 1, FIRST)
    expect(read).toMatchObject({ sequence: 1, uptimeMs: 10_500, tookMs: 20, cpuMs: 4, absent: [], bytes: FIRST.length })
    expect([...read.values]).toEqual([
      [OST, 'job_stats:\n- job_id: a\n  x: 1\n- job_id: b\n  x: 2'],
      [POLICIES, 'p\nq'],
    ])
  })

  it('takes the time of day for finer steps of the uptime, as long as it is not set', () => {
    const stream = new CounterStream()
    const read = (n: number, uptime: string, clock: string, endUptime: string, endClock: string): number[] => {
      const { uptimeMs, tookMs, stepMs } = take(
        stream,
        n,
        `begin ${n} ${uptime} 0 ${clock}\nend ${n} ${endUptime} ${endClock}\n`,
        [POLICIES],
      )
      return [uptimeMs, tookMs, stepMs].map((ms) => Math.round(ms * 1e3) / 1e3)
    }
    expect(read(1, '10.50', '1000.500000000', '10.50', '1000.503250000')).toEqual([10_500, 3.25, 0.001])
    expect(read(2, '10.60', '1000.607000000', '10.61', '1000.612000000')).toEqual([10_607, 5, 0.001])
    // Set back by an hour between two readings, and during one; then there is none.
    expect(read(3, '10.70', '900.000000000', '10.70', '900.001000000')).toEqual([10_700, 1, 0.001])
    expect(read(4, '10.80', '900.104000000', '10.81', '700.000000000')).toEqual([10_800, 10, 10])
    expect(read(5, '10.90', '-', '10.91', '-')).toEqual([10_900, 10, 10])
  })

  it('returns the same at any division of the output', () => {
    const whole = take(new CounterStream(), 1, FIRST)
    for (let size = 1; size < FIRST.length; size += 3) {
      const stream = new CounterStream()
      stream.expect(1, NAMES)
      let read: CounterReading | undefined
      for (let at = 0; at < FIRST.length; at += size) {
        const part = stream.push(FIRST.slice(at, at + size))
        if (!part.ok) throw new Error(part.error.why)
        read = part.value
      }
      expect(read).toEqual(whole)
    }
  })

  it('keeps what did not change, and drops what is gone', () => {
    const stream = new CounterStream()
    const first = take(stream, 1, FIRST)
    const same = take(stream, 2, `begin 2 10.6 5000000\ntable ${OST} 2\nend 2 10.6\n`)
    expect([...same.values]).toEqual([...first.values])
    const changed = `begin 3 10.7 6000000\ntable ${OST} 2\n${entry(3, '- job_id: c')}gone 1\nabsent ${POLICIES}\nend 3 10.7\n`
    const third = take(stream, 3, changed)
    expect([...third.values]).toEqual([[OST, 'job_stats:\n- job_id: b\n  x: 2\n- job_id: c']])
    expect(third.absent).toEqual([POLICIES])
    expect([...take(stream, 4, `begin 4 10.8 7000000\nend 4 10.8\n`).values]).toEqual([])
  })

  it('completes a part of an entry with the end that it had', () => {
    const stream = new CounterStream()
    take(stream, 1, FIRST)
    const part = 'part 2 10 7\n- job_id: \n'
    const read = take(stream, 2, `begin 2 10.6 1\ntable ${OST} 2\n${part}end 2 10.6\n`)
    expect(read.values.get(OST)).toBe('job_stats:\n- job_id: a\n  x: 1\n- job_id: \n  x: 2')
    for (const bad of ['part 3 1 6\nx\n', 'part 2 1 19\nx\n', 'part 2 1\nx\n', 'entry 2 1 1\nx\n']) {
      const other = new CounterStream()
      take(other, 1, FIRST)
      other.expect(2, NAMES)
      expect(other.push(`begin 2 1.00 0\ntable ${OST} 2\n${bad}end 2 1.00\n`), bad).toMatchObject({ ok: false })
    }
  })

  it('returns only what was requested', () => {
    const stream = new CounterStream()
    take(stream, 1, FIRST)
    const read = take(stream, 2, 'begin 2 10.6 1\nend 2 10.6\n', [POLICIES])
    expect([...read.values]).toEqual([[POLICIES, 'p\nq']])
  })

  it('returns the parameters of a pattern, changed or not, and drops those that are not printed', () => {
    const pool = 'ldlm.namespaces.{filter,mdt}-*_UUID.pool.{granted,stats}'
    const names = [pool, POLICIES]
    const of = (leaf: string): string => `ldlm.namespaces.filter-fs-OST0000_UUID.pool.${leaf}`
    const stream = new CounterStream()
    const first = `begin 1 1.00 0\n${value(of('granted'), '7\n')}${value(of('stats'), 'x\n')}${value(POLICIES, 'p\n')}end 1 1.00\n`
    expect([...take(stream, 1, first, names).values].sort()).toEqual([
      [of('granted'), '7'],
      [of('stats'), 'x'],
      [POLICIES, 'p'],
    ])
    const second = `begin 2 1.00 0\nsame ${of('granted')}\nend 2 1.00\n`
    expect([...take(stream, 2, second, names).values].sort()).toEqual([
      [of('granted'), '7'],
      [POLICIES, 'p'],
    ])
    for (const line of [
      `same ${of('stats')}\n`,
      `same ${of('limit')}\n`,
      value('ldlm.namespaces.filter-fs-OST0000_UUID.pool.limit', '7\n'),
      value('ldlm.namespaces.MGC1_UUID.pool.granted', '7\n'),
      value('ldlm.namespaces.filter-x.y_UUID.pool.granted', '7\n'),
    ]) {
      stream.expect(3, names)
      expect(stream.push(`begin 3 1.00 0\n${line}end 3 1.00\n`), line).toMatchObject({ ok: false })
    }
  })

  it('exploit: text of an entry cannot end an answer, and anything unexpected breaks the stream', () => {
    const hostile = '- job_id: x\nend 1 10.52\nbegin 2 1 1'
    const read = take(new CounterStream(), 1, `begin 1 1.00 0\ntable ${OST} 1\n${entry(1, hostile)}end 1 1.00\n`)
    expect(read.values.get(OST)).toBe(`job_stats:\n${hostile}`)
    for (const text of [
      'begin 2 1.00 0\nend 2 1.00\n',
      'end 1 1.00\n',
      'begin 1 1.00 0\nbegin 1 1.00 0\n',
      `begin 1 1.00 0\n${value('jobid_var', 'x')}end 1 1.00\n`,
      `begin 1 1.00 0\n${entry(1, 'x')}end 1 1.00\n`,
      `begin 1 1.00 0\ntable ${OST} 2\n${entry(1, 'x')}end 1 1.00\n`,
      `begin 1 1.00 0\ntable ${OST} 0\ngone 1\nend 1 1.00\n`,
      'begin 1 1.00 0\nend 1 1.00\nmore',
      'x'.repeat(300),
      '\x1b[31mhello\n',
    ]) {
      const stream = new CounterStream()
      stream.expect(1, NAMES)
      expect(stream.push(text), text).toMatchObject({ ok: false, error: { code: 'STREAM_BROKEN' } })
    }
  })
})

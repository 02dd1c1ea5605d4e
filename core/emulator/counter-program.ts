/**
 * `sluice-read` of an emulated server (resources/server/sluice-read): the requests that it accepts and its answers. The emulated shell
 * cannot run the script itself; a test compares both. It costs nothing while nobody requests a reading.
 *
 * Deviation: parameters are read through the emulated lctl, and the program uses no CPU time.
 */
import { LDLM_PARAMETERS } from '../lustre/ldlm-counters.ts'
import { getParamCommand, splitParams } from '../lustre/lctl.ts'
import { parseNrsPolicies } from '../lustre/nrs-policies.ts'
import type { ByteText } from '../lustre/text.ts'

export const COUNTER_PROGRAM = '/usr/local/sbin/sluice-read'
/** First and last lines of the script: a root login sends it to a shell. */
export const COUNTER_SCRIPT = { head: '#!/bin/sh\n# sluice-read: ', end: "\n}\n'\n" } as const

const REQUEST = /^(\d{1,12})((?: \S+)*)$/
const REQUEST_MAX = 4096
const SERVICE =
  /^(?:ost\.OSS\.ost_io|mds\.MDS\.mdt|mds\.MDS\.mdt_readpage)\.(?:nrs_policies|nrs_tbf_rule|stats|timeouts)$/
const TABLES = /^(?:obdfilter|mdt)\.\*\.job_stats$/
const OTHERS: ReadonlySet<string> = new Set([...LDLM_PARAMETERS, 'obdfilter.*.brw_stats', 'osd-*.*.brw_stats'])

/** Interface of a node to the program. */
export interface CounterSite {
  /** Standard output of a command line, run as the program's user. */
  readonly run: (line: string) => ByteText
  /** `/proc/uptime`, s, and the time of day as Lustre prints it. */
  readonly uptime: () => string
  readonly timeOfDay: () => string
}

interface Entry {
  readonly id: number
  text: ByteText
}

const plain = (text: ByteText): ByteText => text.replace(/[\x01-\x08\x0b-\x1f\x7f-\x9f]/g, '?')
const withoutTimes = (text: ByteText): ByteText => text.replace(/^(?:snapshot|elapsed)_time.*\n?/gm, '')

export class CounterProgram {
  readonly #site: CounterSite
  readonly #values = new Map<string, ByteText>()
  readonly #tables = new Map<string, Map<string, Entry>>()
  #ids = 0
  #input = ''
  #code: number | undefined

  constructor(site: CounterSite) {
    this.#site = site
  }

  /** First line of its output. */
  static readonly banner = 'sluice-read 1\n'

  /** Exit code; undefined while it runs. */
  get code(): number | undefined {
    return this.#code
  }

  /** Adds input; @returns  the answers to the requests that it completes. */
  push(input: ByteText): ByteText {
    this.#input += input
    let out = ''
    for (let end = this.#input.indexOf('\n'); end >= 0 && this.#code === undefined; end = this.#input.indexOf('\n')) {
      const line = this.#input.slice(0, end)
      this.#input = this.#input.slice(end + 1)
      out += this.#answer(line)
    }
    return out
  }

  #answer(line: string): ByteText {
    const [, number = '', words = ''] = line.length > REQUEST_MAX ? [] : (REQUEST.exec(line) ?? [])
    const names = words.split(' ').slice(1)
    if (number === '' || !names.every((n) => SERVICE.test(n) || TABLES.test(n) || OTHERS.has(n))) {
      this.#code = 2
      return ''
    }
    const { uptime, timeOfDay } = this.#site
    const done = new Set<string>()
    const begin = `begin ${number} ${uptime()} 0 ${timeOfDay()}\n`
    const body = names.map((name) => this.#parameter(name, done)).join('')
    return `${begin}${body}end ${number} ${uptime()} ${timeOfDay()}\n`
  }

  #read(name: string): Map<string, ByteText> {
    return splitParams(this.#site.run(getParamCommand(name)))
  }

  #parameter(name: string, done: Set<string>): ByteText {
    if (TABLES.test(name)) return this.#readTables(name)
    if (/[*{]/.test(name)) return this.#pattern(name)
    if (!name.endsWith('.nrs_tbf_rule')) return this.#value(name, done)
    const policies = name.replace(/nrs_tbf_rule$/, 'nrs_policies')
    const first = this.#value(policies, done)
    const tbf = parseNrsPolicies(this.#values.get(policies) ?? '').policies.filter((p) => p.name.startsWith('tbf'))
    const isRunning =
      tbf.some((p) => p.state === 'started') && !tbf.some((p) => /^(?:starting|stopping)$/.test(p.state))
    return first + (isRunning ? this.#value(name, done) : `absent ${name}\n`)
  }

  #value(name: string, done: Set<string>): ByteText {
    if (done.has(name)) return ''
    done.add(name)
    const text = this.#read(name).get(name)
    if (text === undefined) {
      this.#values.delete(name)
      return `absent ${name}\n`
    }
    const facts = withoutTimes(text)
    if (this.#values.get(name) === facts) return ''
    this.#values.set(name, facts)
    return printed(name, text)
  }

  #pattern(name: string): ByteText {
    const found = this.#read(name)
    if (found.size === 0) return `absent ${name}\n`
    return [...found]
      .map(([item, text]) => {
        if (this.#values.get(item) === text) return `same ${item}\n`
        this.#values.set(item, text)
        return printed(item, text)
      })
      .join('')
  }

  #readTables(name: string): ByteText {
    const found = this.#read(name)
    if (found.size === 0) return `absent ${name}\n`
    const kind = name.slice(0, name.indexOf('*'))
    for (const table of this.#tables.keys()) if (table.startsWith(kind) && !found.has(table)) this.#tables.delete(table)
    return [...found].map(([table, text]) => this.#table(table, text)).join('')
  }

  #table(name: string, text: ByteText): ByteText {
    const texts = text.split('\n- job_id:').slice(1)
    const before = this.#tables.get(name) ?? new Map<string, Entry>()
    const now = new Map<string, Entry>()
    let body = ''
    for (const entry of texts) {
      let key = entry.slice(0, (entry + '\n').indexOf('\n'))
      // Old releases print several ids as the same text.
      while (now.has(key)) key += '\n'
      const known = before.get(key)
      const id = known?.id ?? ++this.#ids
      now.set(key, { id, text: entry })
      if (known?.text === entry) continue
      const line = plain(`- job_id:${entry}`)
      body += `entry ${id} ${line.length}\n${line}\n`
    }
    for (const [key, { id }] of before) if (!now.has(key)) body += `gone ${id}\n`
    this.#tables.set(name, now)
    return `table ${name} ${texts.length}\n${body}`
  }
}

function printed(name: string, text: ByteText): ByteText {
  const lines = plain(text === '' ? '' : `${text}\n`)
  return `value ${name} ${lines.length}\n${lines}`
}

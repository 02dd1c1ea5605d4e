import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LDLM_PARAMETERS } from '#core/lustre/ldlm-counters.ts'
import { getParamCommand } from '#core/lustre/lctl.ts'
import { SERVICES, servicesOf } from '../../base/service.ts'
import { literalOf } from '../remote/command.ts'
import { READINGS, sudoersToRead } from './readings.ts'
import { sampleCommand } from './reading-cost.ts'
import { parseSudoList, scopeOf } from './sudo-list.ts'
import { HELPER_PATH, LCTL_PATH } from '../remote/sudo-scope.ts'

const sample = (name: string): string => join(import.meta.dirname, '../../../resources/sudoers', name)
const READ = readFileSync(sample('sluice-read'), 'utf8')
const WRITE = readFileSync(sample('sluice-write'), 'utf8')

/** A sudoers sample as sudo lists it, with the alias expanded. */
const listed = (text: string): string => {
  const commands = /^Cmnd_Alias \w+ = (.*?)\n\n/ms.exec(text)?.[1] ?? ''
  return `    (root) NOPASSWD: ${commands.replace(/\\\n */g, '').trim()}\n`
}

describe('the samples of sudoers', () => {
  it('hold what is asked for on the checklist, line by line', () => {
    const sudoers = sudoersToRead('sluice', LCTL_PATH).split('\n')
    expect(sudoers.length).toBe(READINGS.length + 2)
    for (const line of sudoers) expect(READ.split('\n')).toContain(line)
    expect(READ.split('\n').filter((l) => l.startsWith(' '))).toEqual(sudoers.filter((l) => l.startsWith(' ')))
  })

  it('amount to reading, and with the other one to writing through the helper', () => {
    expect(scopeOf(parseSudoList(listed(READ)))).toMatchObject({ kind: 'read', watch: '', lctl: LCTL_PATH })
    const all = scopeOf(parseSudoList(listed(READ) + listed(WRITE)))
    expect(all).toMatchObject({ kind: 'write', watch: '', helper: HELPER_PATH })
  })

  it('let through what the console reads, and nothing of it is left out', () => {
    const sudo = scopeOf(parseSudoList(listed(READ)))
    const access = { isRoot: false, sudo, lctl: LCTL_PATH }
    const all = Object.values(SERVICES).flatMap((s) => [s.policies, s.rules])
    const lines = [
      getParamCommand(...LDLM_PARAMETERS),
      sampleCommand('oss'),
      sampleCommand('mds'),
      getParamCommand('cpu_partition_table', ...all),
      getParamCommand('version', ...servicesOf(['oss']).map((s) => s.jobStats), 'ost.OSS.ost_io.stats'),
    ]
    for (const line of lines) {
      const literal = literalOf(line, access)
      if (!literal.ok) throw new Error(literal.error.why)
      const names = (text: string): readonly string[] =>
        text.match(/[a-z][\w.]*[.][^\s';]+|version|cpu_partition_table/g) ?? []
      const sent = names(literal.value.replaceAll(`sudo -n ${LCTL_PATH} get_param`, ''))
      expect(sent).toEqual(names(line.replace('lctl get_param', '')))
    }
    // Complete if the sample has all of it.
    for (const role of ['oss', 'mds'] as const) {
      expect(literalOf(sampleCommand(role), access)).toEqual({
        ok: true,
        value: `sudo -n /usr/sbin/${sampleCommand(role)}`,
      })
    }
  })

  it('exploit: have no wildcard of sudo, and a login name that is code becomes none', () => {
    for (const line of READ.split('\n').filter((l) => !l.startsWith('#'))) expect(line).not.toMatch(/(?<!\\)[*?[\]]/)
    expect(WRITE.split('\n').filter((l) => !l.startsWith('#') && l.includes('/'))).toEqual([
      `Cmnd_Alias SLUICE_WRITE = ${HELPER_PATH}`,
    ])
    expect(sudoersToRead('x ALL=(ALL) NOPASSWD: ALL\nroot', LCTL_PATH)).toMatch(
      /\nLOGIN ALL=\(root\) NOPASSWD: SLUICE_READ$/,
    )
  })
})

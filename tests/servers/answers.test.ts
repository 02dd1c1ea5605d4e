/** tests/recorded has the answers of a server with that systemd; other tests compare the emulated node with it. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startLab } from '../lab/lab.ts'
import { LOGIN, noServers, SYSTEMD_OF } from '../lab/nspawn.ts'
import { isFull } from './lab.ts'
import { askAll, asLogin, comparable, readRecorded, recordedFile } from '../lab/systemd-answers.ts'

const RELEASES = ['bookworm', 'trixie'] as const

describe.skipIf(noServers !== '')('recorded answers', () => {
  it.each(RELEASES.filter((r) => isFull || r === 'bookworm'))('of %s are what it answers', async (release) => {
    const recorded = readRecorded(readFileSync(recordedFile(SYSTEMD_OF[release]), 'utf8'))
    const lab = await startLab({ parts: 'nspawn', servers: ['oss01'], release, login: 'ops', sudo: 'write' })
    try {
      const answers = await askAll(
        ({ as, command }) => lab.exec('oss01', as === 'root' ? command : asLogin(LOGIN, command)),
        (seconds) => new Promise((done) => setTimeout(done, seconds * 1000)),
      )
      for (const [i, { as, command, ...answer }] of recorded.answers.entries()) {
        const now = answers[i]
        expect.soft(now && comparable(now), `${as}: ${command}`).toEqual(comparable(answer))
      }
      expect(answers).toHaveLength(recorded.answers.length)
      // The server's journal has the user of sudo, and the helper's writes.
      const journal = await lab.exec('oss01', 'journalctl -o cat --no-pager _COMM=sudo')
      expect(journal.stdout).toContain(`${LOGIN} : `)
      expect(journal.stdout).toMatch(/COMMAND=\/usr\/local\/sbin\/sluice-rule expire 1800 sluice-rec-h /)
    } finally {
      await lab.stop()
    }
  })
})

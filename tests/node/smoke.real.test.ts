/** The workflow's check of a packed program, on stand-ins of one. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { root } from './dry-pack.ts'
import { tempFolder } from './temp-folder.ts'

interface Smoke {
  wrongFuses(program: string): Promise<string[]>
  wrongRun(program: string, staysMs: number): Promise<string[]>
}
const smoke = (await import(pathToFileURL(join(root, 'scripts/smoke.mjs')).href)) as Smoke

/** @param fuses  of version 1; as required, or as Electron is shipped. */
function program(script: string, fuses = '010011001'): string {
  const file = join(tempFolder(), 'program')
  const wire = Buffer.concat([Buffer.from('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'), Buffer.from([1, 9]), Buffer.from(fuses)])
  const node = `exec "${process.execPath}" -e '${script}'`
  writeFileSync(file, Buffer.concat([Buffer.from(`#!/bin/sh\n${node}\n# `), wire]))
  chmodSync(file, 0o755)
  return file
}
const opens = 'require("fs").writeFileSync(process.env.SLUICE_DATA + "/history.sqlite", "");'
const stays = 'setInterval(() => {}, 1e6);'

describe.skipIf(process.platform === 'win32')('the smoke test of a packed program', () => {
  it('is content with one that opens a history, stays up and listens nowhere', async () => {
    expect(await smoke.wrongRun(program(opens + stays), 300)).toEqual([])
  })

  it('tells of one that ends, and of one that listens, itself or in a child', async () => {
    expect(await smoke.wrongRun(program('process.exit(3)'), 300)).toEqual(['it ended with 3'])
    const listens = 'require("net").createServer().listen(0, "127.0.0.1");'
    expect(await smoke.wrongRun(program(opens + listens), 300)).toEqual([expect.stringMatching(/^it listens: .*\d/)])
    const child = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(listens)}]);`
    const script = opens + child.replaceAll("'", '') + stays
    expect(await smoke.wrongRun(program(script), 1_500)).toEqual([expect.stringMatching(/^it listens: .*\d/)])
  })

  it('tells of fuses that are as Electron is shipped', async () => {
    expect(await smoke.wrongFuses(program(stays))).toEqual([])
    expect(await smoke.wrongFuses(program(stays, '101100011'))).toEqual(
      expect.arrayContaining(['the fuse RunAsNode is 49, not off', 'the fuse OnlyLoadAppFromAsar is 48, not on']),
    )
  })
})

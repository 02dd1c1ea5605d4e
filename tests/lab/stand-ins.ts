/** Programs of a server that this machine does not have: stand-ins for the emulator's, or scripts that print recorded output. */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { resourcePath } from '#electron/files/resources.ts'
import { scratch } from '../kits/electron/ssh/sshd.ts'

let compiled: string | undefined

/** Path of the stand-in, compiled once per process. */
function standIn(): string {
  if (compiled !== undefined) return compiled
  const file = join(scratch(), 'standin')
  const source = resourcePath(join('standin', 'standin.c'))
  execFileSync('cc', ['-O2', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-o', file, source], { stdio: 'inherit' })
  return (compiled = file)
}

/** Folder in which each of these names is a stand-in for the emulator's program. */
export function standInFolder(names: readonly string[]): string {
  const folder = scratch()
  const program = standIn()
  // Hard links: each is a separate file for `command -v`, and none can dangle.
  for (const name of names) linkSync(program, join(folder, name))
  return folder
}

/** A folder with scripts of these names. */
export function scriptFolder(scripts: Readonly<Record<string, string>>): string {
  const folder = scratch()
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  return folder
}

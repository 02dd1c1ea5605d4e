#!/usr/bin/env node
// The `sluice` command from a checkout: plain JavaScript, so that an old Node can report what is missing or hand over.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)
const runsTypeScript = major > 22 || (major === 22 && minor >= 18)
const hasModules = existsSync(join(root, 'node_modules', 'commander'))

/** Runs a command in place of this process: same streams, signals and exit code. */
function become(command, args) {
  const child = spawn(command, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (e) => {
    process.stderr.write(`sluice: ${command} could not be started: ${e.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
}

const args = process.argv.slice(2)
if (!hasModules) {
  process.stderr.write(
    'sluice: dependencies are not installed. Run `npm ci` (or `npm start`, which does it) and try again.\n',
  )
  process.exit(1)
} else if (!runsTypeScript) {
  const node24 = join(root, 'node_modules', '.bin', 'node')
  if (existsSync(node24)) become(node24, [fileURLToPath(import.meta.url), ...args])
  else {
    process.stderr.write(
      `sluice: Node 22.18 or newer is needed; this is ${process.versions.node}. Run \`npm ci\` to install one beside it.\n`,
    )
    process.exit(1)
  }
} else if (args[0] === 'serve' && !args.includes('--help') && !args.includes('-h')) {
  // Serving needs the built window, which the boot script keeps fresh.
  become(process.execPath, [join(root, 'scripts', 'boot.mjs'), 'start', '--web', ...args.slice(1)])
} else {
  // Compile cache inside the packages it was compiled from: it is as trusted as the program itself. A folder that is not writable
  // is left as it is.
  if (!process.env.NODE_COMPILE_CACHE) module.enableCompileCache(join(root, 'node_modules', '.cache', 'sluice'))
  await import('./main.ts')
}

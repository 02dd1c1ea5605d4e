/**
 * Preloaded before a program: writes the URL of every loaded module, one per line, to the file SLUICE_RECORDED_MODULES when the
 * thread ends.
 */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const file = process.env['SLUICE_RECORDED_MODULES']
const loaded: string[] = []

registerHooks({
  load(url, context, nextLoad) {
    loaded.push(`${url}\n`)
    return nextLoad(url, context)
  },
})
process.on('exit', () => {
  if (file !== undefined) appendFileSync(file, loaded.join(''))
})

/** Hands the page one MessagePort to the host when the page asks for it, says when it leads nowhere any more, and nothing else. */
import { ipcRenderer } from 'electron'

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  if (event.source !== window || event.origin !== window.location.origin) return
  const { data } = event
  if (typeof data === 'object' && data !== null && 'type' in data && data.type === 'sluice:connect') {
    ipcRenderer.send('sluice:connect')
  }
})

ipcRenderer.on('sluice:port', ({ ports }) => {
  window.postMessage({ type: 'sluice:port' }, window.location.origin, [...ports])
})

/** The host ended: its port leads nowhere. */
ipcRenderer.on('sluice:lost', () => window.postMessage({ type: 'sluice:lost' }, window.location.origin))

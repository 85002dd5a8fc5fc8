// useChat of @ai-sdk/react against a running Nexus: a stream, another page that resumes it, tool parts.
// Prints one JSON object per line: what happens, for the test to answer; at the end what the two pages hold.
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, validateUIMessages } from 'ai'
import { createElement } from 'react'
import { act, create } from 'react-test-renderer'

const { address, cookie, project } = JSON.parse(process.argv[2])
const headers = { cookie }
const tell = (told) => process.stdout.write(JSON.stringify(told) + '\n')
const said = (chat) => chat.messages.map((m) => m.parts.filter((p) => p.type === 'text').map((p) => p.text).join(''))
globalThis.IS_REACT_ACT_ENVIRONMENT = true

async function page(id, { resume = false, messages = [], body } = {}) {
  const held = { chat: null }
  function Page() {
    const transport = new DefaultChatTransport({ api: `${address}/api/chat`, headers, body })
    held.chat = useChat({ id, resume, messages, transport })
    return null
  }
  await act(async () => { create(createElement(Page)) })
  return held
}

async function until(true_, why) {
  for (let waited = 0; waited < 20_000; waited += 20) {
    if (true_()) return
    await act(() => new Promise((done) => setTimeout(done, 20)))
  }
  throw new Error(`never: ${why}`)
}

const stored = async (id) => {
  const answer = await fetch(`${address}/api/conversations/${id}/messages`, { headers })
  return (await answer.json()).data.filter((m) => m.status !== 'streaming')
}
const ended = (held) => () => held.chat.status === 'ready' && held.chat.messages.at(-1)?.role === 'assistant'

const first = await page('page-1')
first.chat.sendMessage({ text: 'Count' })
await until(() => said(first.chat).at(-1) === 'One two ', 'the first words')
const conversation = first.chat.messages.at(-1).metadata.conversationId
const second = await page(conversation, { resume: true, messages: await stored(conversation) })
await until(() => said(second.chat).at(-1) === 'One two ', 'the first words on the second page')
tell({ status: [first.chat.status, second.chat.status], texts: said(second.chat) })
await until(ended(first), 'the end')
await until(ended(second), 'the end on the second page')
tell({ texts: [said(first.chat), said(second.chat)], metadata: first.chat.messages.at(-1).metadata })

const tools = await page('page-2', { body: { projectId: project } })
tools.chat.sendMessage({ text: 'What did we decide?' })
await until(ended(tools), 'the answer with a tool')
const kept = tools.chat.messages.at(-1)
const valid = await validateUIMessages({ messages: await stored(kept.metadata.conversationId) })
tell({ parts: kept.parts, stored: valid.at(-1).parts, error: tools.chat.error?.message ?? null })
process.exit(0)

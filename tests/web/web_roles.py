"""web_roles.py TCP SOCKET: what each role may do; SOCKET's proxy says roles in X-Role."""
import json
import sys

from checks import same
from web_client import ask

tcp, proxied = sys.argv[1:3]
# what takes which role, of a queue without jobs
LOOK = ['queues', 'numbers', 'jobs?queue=mail', 'cron', 'flows', 'me']
OPERATOR = {'kick': {'queue': 'mail', 'id': 'x'}, 'cancel': {'queue': 'mail', 'id': 'x'}, 'kick-all': {'queue': 'mail', 'state': 'dead'},
            'pause': {'queue': 'mail'}, 'resume': {'queue': 'mail'}, 'type-pause': {'queue': 'mail', 'glob': 't', 'reason': 'why'},
            'type-resume': {'queue': 'mail', 'glob': 't'},
            'host-pause': {'host': 'web1'}, 'host-resume': {'host': 'web1'}, 'flow-kick': {'queue': 'mail', 'flow': 'f'},
            'flow-cancel': {'queue': 'mail', 'flow': 'f'}, 'kick-matching': {'most': '1', 'glob': 'none'}, 'cancel-matching': {'most': '1', 'glob': 'none'},
            'bury-matching': {'most': '1', 'glob': 'none'}, 'stop': {'task': '99'}, 'go-on': {'task': '99'}}
JOB = {'queue': 'mail', 'id': 'x', 'type': 't', 'payload': '1'}
ADMIN = {'cancel-all': {'queue': 'mail', 'state': 'dead'}, 'push': JOB, 'replace': JOB,
         'numbers-set': {'what': 'limit', 'need': 'n', 'max': '1'}, 'numbers-unset': {'what': 'limit', 'need': 'n'},
         **{f'cron-{verb}': {'queue': 'mail', 'name': 'n'} for verb in ('run', 'pause', 'resume', 'delete')}}
ROLES = ['nobody', 'reader', 'operator', 'admin']


def lets(where, headers, role):
    """One with these headers may do what this role may, and is refused the rest."""
    may = ROLES.index(role)
    status, _, answer = ask(where, '/api/1/me', headers=headers)
    same((status, answer.get('role')), (200, role) if may else (401, None), f'{role}: is told so')
    for path in LOOK:
        same(ask(where, f'/api/1/{path}', headers=headers)[0] in (401, 403), may < 1, f'{role}: {path}')
    for least, paths in ((2, OPERATOR), (3, ADMIN)):
        for path, body in paths.items():
            status, _, answer = ask(where, f'/api/1/{path}', body, headers=headers)
            same(status in (401, 403), may < least, f'{role}: {path}')
            if 0 < may < least:
                same(answer['error'], 'you may look but not act' if least == 2 else 'only an admin may do this', f'{role}: {path}: why')


for name in ROLES[1:]:
    lets(tcp, {'Authorization': f'Bearer 0123456789abcdef-{name}'}, name)
lets(tcp, {'Authorization': 'Bearer 0123456789abcdef-none'}, 'nobody')
lets(tcp, {}, 'nobody')
lets(tcp, {'Authorization': 'Bearer 0123456789abcdef-reader', 'X-Role': 'admin'}, 'reader')

# the socket's peer is root or its own user, so an admin; the proxy's header takes from that
for name in ROLES[1:]:
    lets(proxied, {'X-Role': name}, name)
for headers in ({}, {'X-Role': ''}, {'X-Role': 'Admin'}, {'X-Role': 'admin,'}, {'X-Roles': 'admin'}, {'X-Role': 'nobody'}):
    same(ask(proxied, '/api/1/me', headers=headers)[2]['role'], 'reader', f'the least without a header that is right: {headers}')

# whom the proxy names does it, in the list of tasks, too
def who_did(headers):
    same(ask(proxied, '/api/1/pause', {'queue': 'mail'}, headers={'X-Role': 'admin', **headers})[0], 200, f'somebody acts: {headers}')
    return ask(proxied, '/api/1/tasks', headers={'X-Role': 'admin'})[2]['tasks'][0]['who']


user = who_did({})
same(user.split()[0], 'user', 'without a name it is the user of the socket')
for name, shown in (('ann', 'ann'), ('', None), ('a' * 80, 'a' * 80), ('b' * 200, 'b' * 80), ('x\x1b[2Jy', 'x?[2Jy'), ('\u00e9', '?')):
    same(who_did({'X-User': name}), f'{shown} ({user})' if shown else user, f'who did it: {name[:20]!r}')

# ---- masked members

MASKED = ['jobs?queue=secret', 'job?queue=secret&id=masked', 'jobs?queue=secret&state=dead', 'search-queue?queue=secret&glob=*',
          'search?state=dead']
for name in ROLES[1:]:
    headers = {'Authorization': f'Bearer 0123456789abcdef-{name}'}
    reader = name == 'reader'
    same(ask(tcp, '/api/1/me', headers=headers)[2]['masked'], reader, f'{name}: is told what is masked')
    for path in MASKED:
        status, _, answer = ask(tcp, f'/api/1/{path}', headers=headers)
        text = answer.decode() if isinstance(answer, bytes) else json.dumps(answer)
        same((status, 's3cret' in text, '***' in text), (200, not reader, reader), f'{name}: {path}')
    answer = ask(tcp, '/api/1/job?queue=secret&id=masked', headers=headers)[2]['answers'][0]
    secret = '***' if reader else 's3cret'
    payload = json.loads(answer['document'])['payload']
    same((payload['to'], payload['password'], payload['cards'], json.loads(payload['raw'])),
         ('ann', secret, [{'card': '***' if reader else {'no': 's3cret'}}], {'password': secret}), f'{name}: and nothing else')
    given = json.loads(ask(tcp, '/api/1/job?queue=secret&id=gave', headers=headers)[2]['answers'][0]['result'])
    same(given, {'to': 'ann', 'password': secret}, f'{name}: nor what a job has given back')
    # a condition would tell what it is, one character after the other
    for condition in ('where=payload.password=s3cret', 'where=id=a&where=payload.password=s3cret', 'text=s3cret',
                      'not=text:s3cret', 'not=kind:crash&not=where:payload.password=s3cret'):
        for path in ('count', 'search', 'count-queue', 'search-queue'):
            same(ask(tcp, f'/api/1/{path}?queue=secret&{condition}', headers=headers)[0], 403 if reader else 200, f'{name}: {path} {condition}')
    same(ask(tcp, '/api/1/count?error=reason', headers=headers)[0], 200, f'{name}: what is not masked can be searched for')

"""What somebody is in a chat, as the Bot API says it."""

from collections.abc import Mapping

from bot.drill.doubles.telegram_words import Json

ADMIN_RIGHTS = [
    *("can_be_edited", "is_anonymous", "can_manage_chat", "can_delete_messages"),
    *("can_manage_video_chats", "can_restrict_members", "can_promote_members"),
    *("can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories"),
    "can_delete_stories",
]
SENDING = [
    *("can_send_messages", "can_send_polls", "can_send_other_messages", "can_send_audios"),
    *("can_send_documents", "can_send_photos", "can_send_videos", "can_send_video_notes"),
    *("can_send_voice_notes", "can_add_web_page_previews", "can_change_info"),
    *("can_invite_users", "can_pin_messages", "can_manage_topics", "can_edit_tag"),
    "can_react_to_messages",
]
STATUS_NEEDS: Mapping[str, Json] = {
    "creator": {"is_anonymous": False},
    "administrator": dict.fromkeys(ADMIN_RIGHTS, False),
    "restricted": dict.fromkeys(SENDING, False) | {"is_member": True, "until_date": 0},
    "kicked": {"until_date": 0},
}
"""What the Bot API says beside a member's status."""


def member_wire(user: Json, status: str) -> Json:
    """Say what a user is."""
    return {"user": user, "status": status} | STATUS_NEEDS.get(status, {})

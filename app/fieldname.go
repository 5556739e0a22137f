package app

// fieldNames are what the fields of forms are called.
var fieldNames = map[string]Text{
	"name":             {EN: "Name", VI: "Tên"},
	"password":         {EN: "Password", VI: "Mật khẩu"},
	"present_password": {EN: "Current password", VI: "Mật khẩu hiện tại"},
	"role":             {EN: "Role", VI: "Vai trò"},
	"bank":             {EN: "Bank", VI: "Ngân hàng"},
	"account_number":   {EN: "Account number", VI: "Số tài khoản"},
	"account_name":     {EN: "Account holder", VI: "Chủ tài khoản"},
	"webhook_url":      {EN: "URL", VI: "URL"},
	"type":             {EN: "Direction", VI: "Loại giao dịch"},
	"bank_account_id":  {EN: "Bank account", VI: "Tài khoản ngân hàng"},
	"scope":            {EN: "Permissions", VI: "Quyền"},
	"secret":           {EN: "Secret", VI: "Secret"},
	"auth":             {EN: "Authentication method", VI: "Cách xác thực"},
	"expires_at":       {EN: "Expiry date", VI: "Ngày hết hạn"},
	"overlap_hours":    {EN: "Overlap", VI: "Thời gian chuyển tiếp"},
	"provider":         {EN: "Provider", VI: "Nhà cung cấp"},
	"from":             {EN: "Start date", VI: "Từ ngày"},
	"to":               {EN: "End date", VI: "Đến ngày"},
	"delivery_state":   {EN: "Delivery status", VI: "Trạng thái gửi"},
	"format":           {EN: "Format", VI: "Định dạng"},
	"min":              {EN: "Minimum amount", VI: "Số tiền từ"},
	"max":              {EN: "Maximum amount", VI: "Số tiền đến"},
	"status":           {EN: "Result", VI: "Kết quả"},
	"webhook_id":       {EN: "Webhook", VI: "Webhook"},
	"transaction_id":   {EN: "Transaction", VI: "Giao dịch"},
	"id":               {EN: "Selection", VI: "Mục chọn"},
	"amount":           {EN: "Amount", VI: "Số tiền"},
	"content":          {EN: "Content", VI: "Nội dung"},
	"api_key":          {EN: "API key", VI: "Khoá API"},
	"access_key":       {EN: "Access key", VI: "Access Key"},
	"header":           {EN: "Header", VI: "Header"},
	"map":              {EN: "Field list", VI: "Danh sách trường"},
	"username":         {EN: "Username", VI: "Tên đăng nhập"},
	"sender":           {EN: "Sender", VI: "Người gửi"},
	"accountNumber":    {EN: "Account", VI: "Tài khoản"},
	"transactionDate":  {EN: "Date", VI: "Ngày"},
	"currency":         {EN: "Currency", VI: "Loại tiền"},
	"transferAmount":   {EN: "Amount", VI: "Số tiền"},
	"transferType":     {EN: "Direction", VI: "Loại giao dịch"},
	"source_id":        {EN: "Source", VI: "Nguồn"},
	"notify":           {EN: "Notification choice", VI: "Lựa chọn báo cho cửa hàng"},
	"token":            {EN: "Token", VI: "Token"},
	"chat":             {EN: "Chat ID", VI: "Chat ID"},
	"api_url":          {EN: "Bot API address", VI: "Địa chỉ Bot API"},
	"smtp_host":        {EN: "Mail server", VI: "Máy chủ gửi thư"},
	"smtp_port":        {EN: "Port", VI: "Cổng"},
	"smtp_security":    {EN: "Encryption", VI: "Kiểu mã hoá"},
	"smtp_username":    {EN: "Username", VI: "Tên đăng nhập"},
	"smtp_password":    {EN: "Password", VI: "Mật khẩu"},
	"email_from":       {EN: "Sender", VI: "Địa chỉ gửi"},
	"email_to":         {EN: "Recipients", VI: "Người nhận"},
	"lang":             {EN: "Language", VI: "Ngôn ngữ"},
	"body":             {EN: "Body", VI: "Nội dung"},
	"signature":        {EN: "Signature", VI: "Chữ ký"},
	"delivery_id":      {EN: "Delivery", VI: "Lượt gửi"},
	"kind":             {EN: "Alert type", VI: "Loại cảnh báo"},
}

// FieldName is what people call a field of a call, a form or a statement.
func FieldName(field string) Text {
	if name, known := fieldNames[field]; known {
		return name
	}
	return Text{EN: field, VI: field}
}
